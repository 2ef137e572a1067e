import { setTimeout as wait } from 'node:timers/promises';
import type { Peers } from '../../domain/datapoints/peers.ts';
import type { SharedSessions } from '../../domain/messaging/session-store.ts';
import { mqttLimits } from '../limits.ts';
import type { BrokerContext } from './broker-context.ts';
import { type DeliverEvent, readLog } from './catch-up.ts';
import { untilDone } from './journal.ts';
import { readTalk, writeTalk } from './talk.ts';

/**
 * Reads the log for groups once at a time, and once more if asked meanwhile, but for half of the
 * time at most: of one client's groups, it reads what all clients published.
 */
function createReadAgain(peers: Peers, { context, shared, deliverEvent }: Listening): () => void {
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;

  async function look(): Promise<void> {
    const { router, tree, log, claims } = context;
    const reader = {
      ...{ route: router.routeAgain, hasSubscribers: tree.hasSubscribers },
      room: async () => claims?.decided(),
    };
    let startedAt = 0;
    await untilDone(
      () => {
        startedAt = performance.now();
        return readLog({ shared, peers, deliverEvent }, reader);
      },
      (err) => {
        log.warn({ err }, 'the log could not be read for groups');
        return false;
      },
    );
    const pauseMs = Math.min(performance.now() - startedAt, mqttLimits.groupPauseMsMax);
    await wait(pauseMs, undefined, { ref: false });
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
  readonly deliverEvent: DeliverEvent;
}

/**
 * Acts on messages of the brokers of other processes, and acknowledges them when that is done.
 * Answers the function that reads the log again for messages of groups.
 */
export function listenToOthers(peers: Peers, listening: Listening): () => void {
  const { context, shared } = listening;
  const { ownership, journal, outbound, retained } = context;
  /** Topics whose retained message only the store knows. */
  const doubtful = new Set<string>();
  const lookAgain = createReadAgain(peers, listening);
  context.claims?.onGivenBack(lookAgain);
  // Claims for a session that another process took were given back.
  shared.onFenced(() => {
    if (Iterator.from(context.tree.groups()).next().done !== true) lookAgain();
    const text = (): string => writeTalk({ kind: 'freed' });
    peers.tell({ text, payer: '', bytes: 0 }).catch(() => undefined);
  });

  let renewing: Promise<void> = Promise.resolve();

  /**
   * The store says what is retained; what this process retains meanwhile is newer. One after the
   * other: who asks while topics are read again waits for these, too.
   */
  function renewRetained(): Promise<void> {
    renewing = renewing.catch(() => undefined).then(renewDoubtful);
    return renewing;
  }

  async function renewDoubtful(): Promise<void> {
    const topics = [...doubtful];
    if (topics.length === 0) return;
    // Messages that others retain from now on make a topic doubtful again.
    doubtful.clear();
    try {
      const before = topics.map(retained.of);
      // Messages retained here by now are in the store, or were replaced there.
      await journal.settled();
      const found = new Map((await shared.retained(topics)).map((one) => [one.topic, one]));
      for (const [at, topic] of topics.entries()) {
        if (retained.of(topic) === before[at]) retained.renew(topic, found.get(topic));
      }
    } catch (error) {
      for (const topic of topics) doubtful.add(topic);
      throw error;
    }
  }

  // Messages acknowledged to other processes are in the queues of the sessions here.
  peers.onActed(async () => {
    await renewRetained();
    await ownership?.givenAway();
    await outbound.decided();
    await journal.settled();
  });
  peers.onTold(async (text, isOwn) => {
    const talk = readTalk(text);
    if (talk?.kind === 'message') context.router.route(talk.message);
    else if (isOwn) return;
    else if (talk?.kind === 'freed') lookAgain();
    else if (talk?.kind === 'retained') for (const topic of talk.topics) doubtful.add(topic);
    else if (talk !== undefined) ownership?.told(talk);
  });
  return lookAgain;
}
