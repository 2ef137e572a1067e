import { createHexId } from '../../lib/secret-token.ts';
import { createSemaphore } from '../../lib/semaphore.ts';
import type { NewLook } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import { memberLimits } from '../members/member-limits.ts';
import { lookLimits } from './look-limits.ts';
import type { EndOutcome, Line, LookStore, WaitingLook } from './look-store.ts';

/** A look that is the next on its device, and its push. */
export interface PushInTurn {
  readonly look: WaitingLook;
  readonly push: StoredPush;
}

/** What is known of a device when looks at it have their turn. */
export interface InTurn {
  /** What waits behind them. */
  readonly rest: readonly WaitingLook[];
  /** What rules remember of it. */
  readonly remembered: Line['states'];
  /** Hears what became of each look, before they end. */
  readonly onMade?: (outcomes: readonly PromiseSettledResult<void>[]) => void;
}

/** What becomes of looks when it is their turn. */
export interface LookMaking {
  /** Makes them one after the other, tells what became of each, and ends them. */
  makePushes(
    deviceId: DeviceId,
    some: readonly PushInTurn[],
    turn: InTurn,
  ): Promise<EndOutcome>;
  /** Rules on what was pushed, as far as that can be said at once. */
  rulesOn(deviceId: DeviceId, pushes: Iterable<StoredPush>): readonly NotificationId[];
  /** The look with its push as others were told of it; undefined: no push calls for it. */
  inTurnOf(look: WaitingLook): PushInTurn | undefined;
  /** Makes what other processes left by what is stored of it, and ends it. */
  makeAgain(
    deviceId: DeviceId,
    left: readonly WaitingLook[],
    turn: InTurn,
  ): Promise<EndOutcome>;
}

/** A look that no push calls for: makes it, and ends it. */
export type LookTask = (rest: readonly WaitingLook[]) => Promise<EndOutcome>;

/** Looks of this process among those of all others: each waits until it is the first in line. */
export interface LookLine {
  newLook(deviceId: DeviceId): NewLook;
  /** Resolves when the look that was filed with the push is over; throws what it came to. */
  push(push: StoredPush, lookId: string): Promise<void>;
  /** Files the look; resolves when it is over. */
  task(deviceId: DeviceId, make: (look: NewLook) => LookTask): Promise<void>;
  /** Makes what ended processes left, and what this one could not make before. */
  sweep(): Promise<void>;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
}

interface OwnLook {
  readonly push?: StoredPush;
  readonly task?: LookTask;
  settle(outcome: PromiseSettledResult<void>): void;
}

/** Waits: the first in line is none of ours. */
type MadeOutcome = EndOutcome | 'waits';

const over: PromiseSettledResult<void> = { status: 'fulfilled', value: undefined };

export function createLookLine(store: LookStore, making: LookMaking): LookLine {
  const own = new Map<DeviceId, Map<string, OwnLook>>();
  const running = new Map<DeviceId, Promise<void>>();
  const atOnce = createSemaphore({
    parallelMax: lookLimits.looksAtOnceMax,
    waitingMax: lookLimits.looksWaitingMax,
  });
  /** Looks of this process that could not be made, for those that pushed do not wait any more. */
  const unmade = new Map<DeviceId, { readonly ids: ReadonlySet<string>; readonly tries: number }>();
  /** Looks of this process that nothing was under way for at the last sweep. */
  let suspects: ReadonlySet<string> = new Set();

  function add(deviceId: DeviceId, id: string, look: Omit<OwnLook, 'settle'>): Promise<void> {
    const ofDevice = own.get(deviceId) ?? new Map<string, OwnLook>();
    own.set(deviceId, ofDevice);
    const done = new Promise<void>((resolve, reject) => {
      ofDevice.set(id, {
        ...look,
        settle: (outcome) => (outcome.status === 'fulfilled' ? resolve() : reject(outcome.reason)),
      });
    });
    void start(deviceId);
    return done;
  }

  function settle(deviceId: DeviceId, id: string, outcome: PromiseSettledResult<void>): void {
    const ofDevice = own.get(deviceId);
    const look = ofDevice?.get(id);
    ofDevice?.delete(id);
    if (ofDevice?.size === 0) own.delete(deviceId);
    look?.settle(outcome);
  }

  /** Nobody waits for these any more, and they are not over. */
  function remember(deviceId: DeviceId, some: readonly string[]): void {
    const { ids = [], tries = 0 } = unmade.get(deviceId) ?? {};
    const all = new Set([...ids, ...some]);
    if (all.size > 0) unmade.set(deviceId, { ids: all, tries });
  }

  /** What could not be made is tried again soon, with growing pauses, and then swept. */
  function makeLater(deviceId: DeviceId): void {
    const { ids, tries = 0 } = unmade.get(deviceId) ?? {};
    if (ids === undefined) return;
    if (tries >= lookLimits.againTriesMax) {
      unmade.delete(deviceId);
      return;
    }
    unmade.set(deviceId, { ids, tries: tries + 1 });
    const ms = Math.min(lookLimits.againMsMin * 2 ** tries, lookLimits.againMsMax);
    setTimeout(() => {
      const left = unmade.get(deviceId)?.ids;
      if (left !== undefined) void start(deviceId, left);
    }, ms).unref();
  }

  /** One at a time for each device. */
  function start(deviceId: DeviceId, late?: ReadonlySet<string>): Promise<void> {
    const known = running.get(deviceId);
    if (known !== undefined) return known;
    const work = workOff(deviceId, late)
      .then(
        () => void unmade.delete(deviceId),
        (reason: unknown) => {
          const ids = [...(own.get(deviceId)?.keys() ?? [])];
          for (const id of ids) settle(deviceId, id, { status: 'rejected', reason });
          remember(deviceId, ids);
          makeLater(deviceId);
        },
      )
      .finally(() => {
        running.delete(deviceId);
        if (own.has(deviceId)) void start(deviceId);
      });
    running.set(deviceId, work);
    return work;
  }

  /**
   * Until none of our own waits; `late`: looks of our own that nobody makes any more, until they
   * and what others left first are over as well.
   */
  async function workOff(deviceId: DeviceId, late?: ReadonlySet<string>): Promise<void> {
    let since = performance.now();
    let pauseMs: number = lookLimits.pauseMsMin;
    let patienceMs: number = lookLimits.patienceMs;
    let waitsFor: { readonly id: string; readonly since: number } | undefined;
    const taken = new Set<string>();
    const isLost = (id: string): boolean =>
      late?.has(id) === true || taken.has(id) || unmade.get(deviceId)?.ids.has(id) === true;
    // A moment after a commit, its looks are not among our own yet.
    const isLeftNow = ({ id, member, isLeft }: WaitingLook): boolean =>
      isLeft ||
      (member === store.member &&
        own.get(deviceId)?.has(id) !== true &&
        (isLost(id) || performance.now() - since > lookLimits.lateMs));
    while (late !== undefined || own.has(deviceId)) {
      const before = [...(own.get(deviceId)?.keys() ?? [])];
      const read = await store.line(deviceId, making.rulesOn(deviceId, ownPushes(deviceId)));
      const { looks: line, states: remembered } = read;
      endThoseGone(deviceId, before, line);
      const [first] = line;
      if (first !== undefined && first.member !== store.member) {
        if (waitsFor?.id !== first.id) waitsFor = { id: first.id, since: performance.now() };
        const isLate = performance.now() - waitsFor.since > patienceMs;
        if (first.isLeft || (isLate && inTurnOf(deviceId, first) !== undefined)) {
          await store.take(first.id, first.member);
          taken.add(first.id);
        } else if (own.has(deviceId)) {
          await pause(pauseMs);
          pauseMs = Math.min(2 * pauseMs, lookLimits.pauseMsMax);
        } else {
          return;
        }
        continue;
      }
      const left = firstOf(line, isLeftNow);
      let outcome: MadeOutcome;
      if (left.length > 0) {
        const turn = { rest: line.slice(left.length), remembered };
        outcome = await atOnce.run(() => making.makeAgain(deviceId, left, turn));
      } else if (!own.has(deviceId)) {
        return;
      } else {
        outcome = await makeOwn(deviceId, read);
      }
      if (outcome === 'taken') patienceMs *= lookLimits.patienceFactor;
      if (outcome === 'waits') {
        await pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, lookLimits.pauseMsMax);
        continue;
      }
      since = performance.now();
      pauseMs = lookLimits.pauseMsMin;
    }
  }

  /** Whoever thought that this process had ended made them. */
  function endThoseGone(
    deviceId: DeviceId,
    before: readonly string[],
    line: readonly WaitingLook[],
  ): void {
    if (line.length >= lookLimits.looksInLineMax) return;
    const waiting = new Set(line.map(({ id }) => id));
    for (const id of before) if (!waiting.has(id)) settle(deviceId, id, over);
  }

  /** Where the first in line is one of ours, and with it those of others right behind it. */
  async function makeOwn(deviceId: DeviceId, read: Line): Promise<MadeOutcome> {
    const { looks: line, states: remembered } = read;
    const ofDevice = own.get(deviceId);
    const [first] = line;
    const found = first && ofDevice?.get(first.id);
    if (first === undefined || found === undefined) return 'waits';
    const { task } = found;
    if (task !== undefined) {
      const ended = await atOnce.run(() => task(line.slice(1)));
      if (ended === 'taken') return ended;
      settle(deviceId, first.id, over);
      return ended;
    }
    const some: PushInTurn[] = [];
    for (const look of line) {
      const inTurn = inTurnOf(deviceId, look);
      if (inTurn === undefined) break;
      some.push(inTurn);
    }
    const rest = line.slice(some.length);
    const ids = some.map(({ look }) => look.id);
    const onMade = (outcomes: readonly PromiseSettledResult<void>[]): void => {
      ids.forEach((id, at) => {
        settle(deviceId, id, outcomes[at] ?? over);
      });
    };
    try {
      const turn = { rest, remembered, onMade };
      return await atOnce.run(() => making.makePushes(deviceId, some, turn));
    } catch (error) {
      remember(deviceId, ids);
      throw error;
    }
  }

  function* ownPushes(deviceId: DeviceId): Iterable<StoredPush> {
    for (const { push } of own.get(deviceId)?.values() ?? []) if (push !== undefined) yield push;
  }

  function inTurnOf(deviceId: DeviceId, look: WaitingLook): PushInTurn | undefined {
    const push = own.get(deviceId)?.get(look.id)?.push;
    if (push !== undefined) return { look, push };
    if (look.member === store.member) return undefined;
    const told = making.inTurnOf(look);
    // What others are told of a longer push is not all of it.
    const isWhole = (told?.push.datapoints.length ?? 0) < memberLimits.datapointsPerEntryMax;
    return isWhole ? told : undefined;
  }

  return {
    newLook: (deviceId) => ({ id: createHexId(), member: store.member, deviceId }),
    push: (push, lookId) => add(push.deviceId, lookId, { push }),
    async task(deviceId, make) {
      const look: NewLook = { id: createHexId(), member: store.member, deviceId };
      await store.file(look);
      await add(deviceId, look.id, { task: make(look) });
    },
    async sweep() {
      const before = suspects;
      const found = await store.left();
      const unknown = found.filter(
        ({ id, deviceId, isLeft }) => !isLeft && own.get(deviceId)?.has(id) !== true,
      );
      suspects = new Set(unknown.map(({ id }) => id));
      const due = found.filter(({ id, isLeft }) => isLeft || (suspects.has(id) && before.has(id)));
      for (const deviceId of new Set(due.map((look) => look.deviceId))) {
        await start(deviceId, before);
      }
    },
    async drain() {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

function firstOf<Item>(items: readonly Item[], isOne: (item: Item) => boolean): readonly Item[] {
  const end = items.findIndex((item) => !isOne(item));
  return end < 0 ? items : items.slice(0, end);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
