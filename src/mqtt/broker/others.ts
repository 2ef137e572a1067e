import type { Peers } from '../../domain/datapoints/peers.ts';
import type { SessionChange, SharedSessions } from '../../domain/messaging/session-store.ts';
import type { BrokerContext } from './broker-context.ts';
import type { RetainedMessages } from './retained.ts';
import type { Router } from './router.ts';
import { readTalk, writeTalk } from './talk.ts';

/** What the brokers of other processes are told of changes: that something else is retained. */
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

/** Acts on what the brokers of other processes tell, and says when that is done. */
export function listenToOthers(
  peers: Peers,
  {
    context,
    shared,
    retained,
    router,
  }: {
    readonly context: BrokerContext;
    readonly shared: Pick<SharedSessions, 'retained'>;
    readonly retained: RetainedMessages;
    readonly router: Router;
  },
): void {
  const { ownership, journal, log } = context;

  /** The store says what is retained; what this process retains meanwhile is newer. */
  async function renewRetained(topics: readonly string[]): Promise<void> {
    const before = topics.map(retained.of);
    // What was retained here by now is in the store, or was replaced there.
    await journal.settled();
    const found = new Map((await shared.retained(topics)).map((one) => [one.topic, one]));
    for (const [at, topic] of topics.entries()) {
      if (retained.of(topic) === before[at]) retained.renew(topic, found.get(topic));
    }
  }

  // What is acknowledged to others is in the queues of the sessions here.
  peers.onActed(() => journal.settled());
  peers.onTold(async (text) => {
    const talk = readTalk(text);
    if (talk?.kind === 'message') router.route(talk.message);
    else if (talk?.kind === 'retained') {
      await renewRetained(talk.topics).catch((error: unknown) =>
        log.warn({ err: error }, 'what others retained could not be read'),
      );
    } else if (talk !== undefined) await ownership?.told(talk);
  });
}
