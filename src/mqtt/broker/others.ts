import type { Peers } from '../../domain/datapoints/peers.ts';
import type { SessionChange, SharedSessions } from '../../domain/messaging/session-store.ts';
import { mqttLimits } from '../limits.ts';
import type { BrokerContext } from './broker-context.ts';
import { type DeliverEvent, readLog } from './catch-up.ts';
import type { RetainedMessages } from './retained.ts';
import type { Router } from './router.ts';
import type { SubscriptionTree } from './subscription-tree.ts';
import { readTalk, writeTalk } from './talk.ts';

/** Messages to the brokers of other processes: topics whose retained message changed. */
export const retainedNotes =
  (peers: Pick<Peers, 'entryOf'>) =>
  (changes: readonly SessionChange[]): readonly string[] => {
    const topics = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'retained') topics.add(change.message.topic);
      else if (change.kind === 'unretained') topics.add(change.topic);
    }
    if (topics.size === 0) return [];
    return [peers.entryOf(writeTalk({ kind: 'retained', topics: [...topics] }))];
  };

/** Reads the log for groups when something that was claimed for them may be claimed again. */
export type ReadAgain = () => void;

/** Reads the log once at a time, and once more if asked meanwhile. */
function createReadAgain({
  context,
  peers,
  shared,
  deliverEvent,
  router,
  tree,
}: Listening & { readonly peers: Peers }): ReadAgain {
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;

  async function look(): Promise<void> {
    do {
      isAskedAgain = false;
      await readLog(
        { shared, peers, deliverEvent },
        {
          route: router.routeAgain,
          hasSubscribers: (topic, reach) => tree.match(topic, reach).count > 0,
        },
      ).catch(async (error: unknown) => {
        context.log.warn({ err: error }, 'the log could not be read for groups');
        isAskedAgain = true;
        await new Promise((resolve) => setTimeout(resolve, mqttLimits.storeRetryMs).unref());
      });
    } while (isAskedAgain);
  }

  function again(): void {
    isAskedAgain = looking !== undefined;
    looking ??= look().finally(() => {
      looking = undefined;
      // Asked for after the last read had ended.
      if (isAskedAgain) again();
    });
  }

  return again;
}

interface Listening {
  readonly context: BrokerContext;
  readonly shared: Pick<SharedSessions, 'retained' | 'missed' | 'onFenced'>;
  readonly retained: RetainedMessages;
  readonly router: Router;
  readonly tree: SubscriptionTree;
  readonly deliverEvent: DeliverEvent;
}

/**
 * Acts on messages of the brokers of other processes, and acknowledges them when that is done.
 * Answers the function that reads the log again for messages of groups.
 */
export function listenToOthers(peers: Peers, listening: Listening): ReadAgain {
  const { context, shared, retained, router, tree } = listening;
  const { ownership, journal } = context;
  /** Topics whose retained message only the store knows. */
  const doubtful = new Set<string>();
  const lookAgain = createReadAgain({ ...listening, peers });
  context.claims?.onGivenBack(lookAgain);
  // Claims for a session that another process took were given back.
  shared.onFenced(() => {
    if (Iterator.from(tree.groups()).next().done !== true) lookAgain();
    peers.tell(writeTalk({ kind: 'freed' })).catch(() => undefined);
  });

  /** The store says what is retained; what this process retains meanwhile is newer. */
  async function renewRetained(): Promise<void> {
    if (doubtful.size === 0) return;
    const topics = [...doubtful];
    const before = topics.map(retained.of);
    // Messages retained here by now are in the store, or were replaced there.
    await journal.settled();
    const found = new Map((await shared.retained(topics)).map((one) => [one.topic, one]));
    for (const [at, topic] of topics.entries()) {
      if (retained.of(topic) === before[at]) retained.renew(topic, found.get(topic));
      doubtful.delete(topic);
    }
  }

  // Messages acknowledged to other processes are in the queues of the sessions here.
  peers.onActed(async () => {
    await renewRetained();
    await journal.settled();
  });
  peers.onTold(async (text) => {
    const talk = readTalk(text);
    if (talk?.kind === 'message') router.route(talk.message);
    else if (talk?.kind === 'freed') lookAgain();
    else if (talk?.kind === 'retained') for (const topic of talk.topics) doubtful.add(topic);
    else if (talk !== undefined) await ownership?.told(talk);
  });
  return lookAgain;
}
