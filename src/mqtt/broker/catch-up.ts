import type { FeedEvent } from '../../domain/datapoints/feed.ts';
import type { Peers } from '../../domain/datapoints/peers.ts';
import type { LogPage, LogPosition } from '../../domain/members/member-store.ts';
import type { Message, SessionKey } from '../../domain/messaging/message.ts';
import type { ClaimedSession, SharedSessions } from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import type { Broker, Reach } from '../broker.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Claims } from './group-routing.ts';
import { type Journal, untilDone } from './journal.ts';
import type { Outbound } from './outbound.ts';
import { createRouter } from './router.ts';
import { type DeliveryTerms, isKnown, nameOfFound, type Session } from './session.ts';
import { createHandOnShares } from './slices.ts';
import { createSubscriptionTree } from './subscription-tree.ts';
import { readTalk } from './talk.ts';

export interface CatchUpOptions {
  readonly shared: SharedSessions;
  readonly peers: Pick<Peers, 'read'>;
  readonly deliverEvent: DeliverEvent;
  readonly outbound: Outbound;
  readonly journal: Journal;
  readonly counters: Counters;
  readonly claims: Claims;
  readonly clock: Clock;
  readonly log: Log;
}

/** Hands on what an event of the log says, as when it happened. */
export type DeliverEvent = (
  receivers: Pick<Broker, 'deliver' | 'hasSubscribers' | 'renewRetained'>,
  event: FeedEvent,
) => void;

/** A session of this process that was another one's, and what is kept of it. */
export interface TakenSession {
  readonly session: Session;
  readonly claimed: ClaimedSession;
}

/** Defers what comes for the session until the log was read for it. */
export function holdBack(session: Session, { heard }: Pick<ClaimedSession, 'heard'>): void {
  session.catchUp = { waiting: [], found: new Set(), heard };
}

interface CompletionTerms {
  isOver(): boolean;
  isComing(key: SessionKey): boolean;
  /** Work that waits for its turn among others: none that reads waits for one that stores. */
  readonly turns: Readonly<Record<'read' | 'store', (work: () => Promise<void>) => Promise<void>>>;
}

/**
 * Reads the log for sessions with deferred deliveries, until that is done: then the deliveries go
 * on, and the store records it. Never rejects; a process that stops leaves it to the next one.
 * `claimed`: all of them, also those that could not be taken up; one that went and `isComing` again
 * is not complete before the log was read once more.
 */
export async function complete(
  context: CatchUpOptions,
  taken: readonly TakenSession[],
  claimed: readonly ClaimedSession[],
  { isOver, isComing, turns }: CompletionTerms,
): Promise<void> {
  const { shared, journal, log } = context;
  const until = async (work: () => Promise<void>, sentence: string): Promise<void> => {
    await untilDone(
      async () => (isOver() ? undefined : work()),
      (err) => {
        log.warn({ err }, sentence);
        return isOver();
      },
    );
  };
  const heldBack = taken.filter(({ session }) => session.catchUp !== undefined);
  if (heldBack.length > 0) {
    await turns.read(async () => {
      let isLeft = true;
      await until(async () => {
        await readLog(context, createReplay(context, heldBack));
        isLeft = false;
      }, 'the log could not be read for MQTT sessions');
      for (const { session } of heldBack) letGo(session, isLeft);
    });
  }
  await turns.store(() =>
    until(async () => {
      await journal.settled();
      // The journal may have given up.
      if (isOver()) return;
      await shared.caughtUp(claimed.map(({ key }) => key).filter((key) => !isComing(key)));
    }, 'it could not be stored that MQTT sessions are complete'),
  );
}

function letGo({ catchUp: state }: Session, isLeft: boolean): void {
  if (state === undefined) return;
  const { waiting = [] } = state;
  Object.assign(state, { waiting: undefined, isLeft });
  for (const next of waiting) next();
}

interface LogSource {
  readonly shared: Pick<SharedSessions, 'missed'>;
  readonly peers: Pick<Peers, 'read'>;
  readonly deliverEvent: DeliverEvent;
}

interface LogReader extends Pick<Broker, 'hasSubscribers'> {
  readonly route: (message: Message, reach?: Reach) => void;
  /** Called with the position of each entry. */
  readonly before?: (position: LogPosition) => void;
  /** Resolves when there is room for another page: absent, there always is. */
  readonly room?: () => Promise<unknown>;
}

/**
 * Hands on all that the log has, as when it happened; what is written meanwhile comes of itself.
 * Throws when the store cannot answer.
 */
export async function readLog(
  { shared, peers, deliverEvent }: LogSource,
  { route, hasSubscribers, before, room }: LogReader,
): Promise<void> {
  const receivers: Parameters<DeliverEvent>[0] = {
    deliver: (messages, reach) => {
      for (const message of messages) route(message, reach);
    },
    hasSubscribers,
    renewRetained: () => undefined,
  };
  let page: LogPage;
  let after = 0;
  const breathe = createBreather();
  do {
    page = await shared.missed(after);
    for (const { text, ...position } of page.entries) {
      after = position.place;
      before?.(position);
      const said = peers.read(text);
      if (typeof said === 'object') deliverEvent(receivers, said);
      const talk = typeof said === 'string' ? readTalk(said) : undefined;
      if (talk?.kind === 'message') route(talk.message);
      await breathe();
    }
    await room?.();
  } while (!page.isLast);
}

/**
 * Queues what the log has for sessions that another process had, and did not put into their queues:
 * each message once, behind those that are there. Rights are asked for at this moment.
 */
function createReplay(
  { outbound, journal, counters, clock, claims }: CatchUpOptions,
  taken: readonly TakenSession[],
): LogReader {
  const tree = createSubscriptionTree();
  const coming = taken.flatMap(({ session, claimed }) =>
    claimed.subscriptions.map((subscription) => ({
      ...{ session, subscription },
      since: claimed.since.get(subscription.filter) ?? (() => 0),
    })),
  );
  /** Subscriptions that no entry of the writer was for yet; the next ones last. */
  const comingBy = new Map<number, typeof coming>();

  function offer(session: Session, delivery: Delivery, terms: DeliveryTerms) {
    const { origin } = delivery.message;
    const { catchUp: state } = session;
    if (terms.qos === 0 || session.isEnded) return;
    if (terms.share !== undefined) return outbound.offerFound(session, delivery, terms);
    if (origin === undefined || state === undefined || isKnown(state, delivery.message)) return;
    state.found.add(nameOfFound(origin));
    outbound.offerFound(session, delivery, terms);
  }

  const router = createRouter({
    ...{ tree, journal, counters, clock, claims },
    outbound: { ...outbound, offer },
    shares: createHandOnShares(),
  });
  return {
    route: router.route,
    hasSubscribers: tree.hasSubscribers,
    // Of what came meanwhile it is known then what was found.
    room: router.idle,
    /** Adds subscriptions made before this entry was committed: earlier ones are not for them. */
    before({ writer, place }) {
      const waiting =
        comingBy.get(writer) ??
        coming.toSorted((one, other) => other.since(writer) - one.since(writer));
      comingBy.set(writer, waiting);
      for (let next = waiting.at(-1); next !== undefined && next.since(writer) < place; ) {
        tree.add(next.session, next.subscription);
        waiting.pop();
        next = waiting.at(-1);
      }
    },
  };
}
