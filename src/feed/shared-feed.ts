import type { Change } from '../domain/changes.ts';
import type { Commit, Push } from '../domain/datapoints/datapoint-store.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import type { Peers } from '../domain/datapoints/peers.ts';
import { DomainError } from '../domain/errors.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import type {
  FeedLog,
  LogPosition,
  MemberFigures,
  Telling,
  Told,
} from '../domain/members/member-store.ts';
import { runInSteps } from '../lib/event-loop.ts';
import type { Log } from '../lib/log.ts';
import { createGroupCommit } from '../lib/scheduling/group-commit.ts';
import {
  changeOfText,
  createEventText,
  type EventText,
  isEventText,
  type PublishContextForm,
  textOfChange,
} from './entry-text.ts';
import { createLogReading } from './log-reading.ts';

/** A feed whose changes reach the other processes on the same database, and theirs this one. */
export interface SharedFeed extends Feed {
  isCurrent(readAt: number): boolean;
  figures(): Pick<MemberFigures, 'unheardSeconds' | 'deferred'>;
  readonly peers: Peers;
  /** Publishes a change here alone. */
  tell(change: Change): Promise<void>;
  /** Begins to read entries of other processes. Resolves when all earlier ones were published. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A change is published here, written for other processes, and acknowledged when all of them have
 * acted on it, after a second at most: a process that has not read the log for a second trusts
 * nothing that it remembers. A change that cannot be written is owed: that anything may have
 * changed, until it is.
 */
export function createSharedFeed(options: {
  readonly local: Feed;
  readonly shared: FeedLog;
  readonly log: Log;
  /** How publish contexts travel. */
  readonly contexts: PublishContextForm;
  /** Instead of the limit of members, for tests. */
  readonly heldBackMs?: number;
}): SharedFeed {
  const { local, log, shared, heldBackMs } = options;
  const eventText = createEventText(options.contexts);
  const settings = createUnwritten(shared);
  const telling = createTelling(shared);
  const barrier = createBarrier(shared);
  /** Listeners to messages of other processes, and the work before these are acknowledged. */
  const listeners: Parameters<Peers['onTold']>[0][] = [];
  const works: (() => Promise<void>)[] = [];
  const reading = createLogReading({ shared, act, acted, first: writeOwed, log, heldBackMs });
  const { look, held } = reading;
  let owes = false;
  let timer: NodeJS.Timeout | undefined;
  let endNews: (() => void) | undefined;

  async function tellOthers(change: Change): Promise<void> {
    try {
      await tellAll(textOfChange(change));
    } catch (err) {
      owes = true;
      log.warn({ err, change: change.kind }, 'other processes could not be told of a change');
      throw err;
    }
  }

  /** Resolves when all have acted on it, or `by` alone, or had time to. */
  async function tellAll(text: string, by?: number): Promise<void> {
    const position = await shared.append(text);
    if (position !== undefined) await barrier.heard(position, by);
  }

  /** Acts on an entry; an entry that fails does not delay those behind it. */
  async function act(text: string, isOwn = false): Promise<void> {
    await actOn(text, isOwn).catch((err: unknown) =>
      log.warn({ err }, 'what another process wrote could not be acted on'),
    );
  }

  async function actOn(text: string, isOwn: boolean): Promise<void> {
    const message = textOf(text);
    if (message !== undefined) {
      for (const listener of listeners) await listener(message, isOwn);
      return;
    }
    if (!isEventText(text)) return local.publishChange(changeOfText(text));
    const event = eventText.read(text);
    if (event !== undefined) local.publish([event]);
  }

  async function acted(): Promise<void> {
    for (const work of works) await work();
  }
  /** Writes owed changes for other processes, before their entries are read. */
  async function writeOwed(): Promise<void> {
    await settings.write();
    if (!owes) return;
    await shared.append(textOfChange({ kind: 'anything' }));
    owes = false;
  }

  return {
    publish(events) {
      for (const event of events) {
        // Datapoints were written in the commit that stored them.
        if (event.kind !== 'actuator' || settings.isFull()) continue;
        // Before it is published here: messages to other processes are numbered.
        settings.add(eventText.ofSetting(event));
        void look();
      }
      held.inOrder(() => local.publish(events));
    },
    async told() {
      const isWritten = settings.mark();
      if (!isWritten()) await look();
      if (!isWritten()) await reading.heard();
      if (!isWritten()) throw new DomainError('unavailable', awaySentence);
    },
    held,
    notesOf: (pushes, isWanted) => notesOf(pushes, isWanted, eventText),
    pushOf(note) {
      const event = isEventText(note) ? eventText.read(note) : undefined;
      return event?.kind === 'datapoints' ? event : undefined;
    },
    ...{ subscribe: local.subscribe, onChange: local.onChange, tell: local.publishChange },
    async publishChange(change) {
      const both = [local.publishChange(change), tellOthers(change)] as const;
      const [, told] = await Promise.allSettled(both);
      if (told.status === 'rejected') throw told.reason;
    },
    peers: {
      tell: telling.add,
      ask: (text, by) => tellAll(entryOf(text), by),
      onTold: (listener) => void listeners.push(listener),
      onActed: (work) => void works.push(work),
      entryOf,
      origin: options.contexts.origin,
      read: (entry) => textOf(entry) ?? eventText.read(entry),
      heardBefore: held.released,
      rest() {
        telling.rest();
        reading.rest();
      },
      hasDropped: held.hasDropped,
      heard: reading.heard,
    },
    isCurrent: (readAt) =>
      reading.isCurrent() || performance.now() - readAt < memberLimits.rememberedMs,
    figures: reading.figures,
    async start() {
      endNews = shared.onNews((own = []) => {
        for (const text of own) held.inOrder(() => void act(text, true));
        barrier.news();
        void look();
      });
      timer = setInterval(() => void look(), memberLimits.logLookMs).unref();
      await look();
    },
    async stop() {
      endNews?.();
      clearInterval(timer);
      barrier.end();
      await telling.drain();
      await reading.end();
      await settings.write().catch(() => undefined);
    },
  };
}

/** Messages to other processes, many in one commit: who tells much waits for the others. */
function createTelling(shared: Pick<FeedLog, 'tell'>) {
  let hasFailed = false;
  const resting = new AbortController();
  const group = createGroupCommit<Told, Telling, boolean>({
    async commit(messages) {
      // A stop waits for one attempt, not for one of each batch.
      if (hasFailed) throw new DomainError('unavailable', awaySentence);
      const told = messages.map((one) => ({ ...one, text: () => entryOf(one.text()) }));
      return shared.tell(told).catch((error: unknown) => {
        hasFailed = resting.signal.aborted;
        throw error;
      });
    },
    settle(telling, { resolve, reject }) {
      if (telling === 'gone') reject(new DomainError('gone', 'this will was published before'));
      else if (telling === 'elsewhere') reject(new DomainError('unavailable', elsewhereSentence));
      else resolve(telling === 'told');
    },
    weigh: ({ bytes }) => 1_024 + bytes,
    payerOf: ({ payer }) => payer,
    batchWeightMax: memberLimits.toldBytesPerCommit,
    batchItemsMax: memberLimits.toldPerCommit,
    queueWeightMax: memberLimits.toldBytesMax,
    payerWeightMax: memberLimits.toldBytesMax / 4,
    payerWeightFloor: memberLimits.toldBytesPerCommit / 4,
    refusal: () => new DomainError('rate_limited', 'too many messages wait: try again in a moment'),
  });
  return { ...group, rest: () => resting.abort() };
}

const elsewhereSentence = 'the client connected elsewhere';
const awaySentence = 'the other processes of the service cannot be told now: try again';

/** In steps where a push is long. */
async function notesOf(
  pushes: readonly Push[],
  isWanted: Commit['isWanted'],
  { ofPush, ofLast }: EventText,
): Promise<readonly (readonly string[])[]> {
  const textsOf = (push: Push) => (isWanted(push.deviceId) ? ofPush(push) : [ofLast(push)]);
  const isLong = pushes.some(({ batch }) => batch.count > memberLimits.datapointsPerEntryMax);
  if (!isLong) return pushes.map((push) => [...textsOf(push)]);
  return runInSteps(
    (function* () {
      const notes: string[][] = [];
      for (const push of pushes) {
        const parts: string[] = [];
        notes.push(parts);
        for (const part of textsOf(push)) {
          parts.push(part);
          yield;
        }
      }
      return notes;
    })(),
  );
}

/** Settings of actuators that were not written for other processes yet, in order. */
function createUnwritten(shared: Pick<FeedLog, 'append'>) {
  const texts: string[] = [];
  let written = 0;
  return {
    isFull: () => texts.length >= memberLimits.settingsWaitingMax,
    add: (text: string): void => void texts.push(text),
    /** Whether those that wait now have been written. */
    mark(): () => boolean {
      const until = written + texts.length;
      return () => written >= until;
    },
    async write(): Promise<void> {
      for (let [text] = texts; text !== undefined; [text] = texts) {
        await shared.append(text);
        texts.shift();
        written += 1;
      }
    },
  };
}

/** The entry of a message between processes: `!` begins what is neither change nor event. */
const entryOf = (text: string): string => `!${text}`;

const textOf = (entry: string): string | undefined =>
  entry.startsWith('!') ? entry.slice(1) : undefined;

/** Waits until processes that serve have acted on an entry of the log. */
function createBarrier(shared: Pick<FeedLog, 'isHeard'>) {
  const waiting = new Set<() => void>();
  let isOver = false;
  const news = (): void => {
    for (const done of waiting) done();
  };
  return {
    /** A process may have acted on an entry. */
    news,
    /** Resolves when all have acted on it, or `by` alone, or after a second, or at the end. */
    async heard(position: LogPosition, by?: number): Promise<void> {
      const until = performance.now() + memberLimits.barrierMs;
      while (performance.now() < until && !isOver) {
        const next = nextNews(waiting, Math.min(memberLimits.logLookMs, until - performance.now()));
        if (await shared.isHeard(position, by).catch(() => false)) return;
        await next;
      }
    },
    /** Ends all waiting. */
    end(): void {
      isOver = true;
      news();
    },
  };
}

/** Resolves at the next news, which calls all that wait, or after so long. */
function nextNews(waiting: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(patience);
      waiting.delete(done);
      resolve();
    };
    const patience = setTimeout(done, Math.max(0, ms));
    waiting.add(done);
  });
}
