import { createHexId } from '../../lib/secret-token.ts';
import { createSemaphore } from '../../lib/semaphore.ts';
import type { NewLook } from '../datapoints/datapoint-store.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import type { DeviceId } from '../ids.ts';
import { lookLimits } from './look-limits.ts';
import type { LookStore, WaitingLook } from './look-store.ts';

/** A look that is the next on its device, and its push. */
export interface PushInTurn {
  readonly look: WaitingLook;
  readonly push: StoredPush;
}

/** What becomes of looks when it is their turn; `rest`: what waits behind them, all they know. */
export interface LookMaking {
  /** Makes them one after the other, and ends them; answers what became of each. */
  makePushes(
    deviceId: DeviceId,
    some: readonly PushInTurn[],
    rest: readonly WaitingLook[],
  ): Promise<readonly PromiseSettledResult<void>[]>;
  /** Makes what other processes left by what is stored of it, and ends it. */
  makeAgain(
    deviceId: DeviceId,
    left: readonly WaitingLook[],
    rest: readonly WaitingLook[],
  ): Promise<void>;
}

/** A look that no push calls for: makes it, and ends it. */
export type LookTask = (rest: readonly WaitingLook[]) => Promise<void>;

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

const over: PromiseSettledResult<void> = { status: 'fulfilled', value: undefined };

export function createLookLine(store: LookStore, making: LookMaking): LookLine {
  const own = new Map<DeviceId, Map<string, OwnLook>>();
  const running = new Map<DeviceId, Promise<void>>();
  const atOnce = createSemaphore({
    parallelMax: lookLimits.looksAtOnceMax,
    waitingMax: lookLimits.looksWaitingMax,
  });
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

  /** One at a time for each device. */
  function start(deviceId: DeviceId, late?: ReadonlySet<string>): Promise<void> {
    const known = running.get(deviceId);
    if (known !== undefined) return known;
    const work = workOff(deviceId, late)
      .catch((reason: unknown) => {
        for (const id of own.get(deviceId)?.keys() ?? []) {
          settle(deviceId, id, { status: 'rejected', reason });
        }
      })
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
    // A moment after a commit, its looks are not among our own yet.
    const isLeftNow = ({ id, member, isLeft }: WaitingLook): boolean =>
      isLeft ||
      (member === store.member &&
        own.get(deviceId)?.has(id) !== true &&
        (late?.has(id) === true || performance.now() - since > lookLimits.lateMs));
    while (late !== undefined || own.has(deviceId)) {
      const before = [...(own.get(deviceId)?.keys() ?? [])];
      const line = await store.line(deviceId);
      endThoseGone(deviceId, before, line);
      const left = firstOf(line, isLeftNow);
      if (left.length > 0) {
        await atOnce.run(() => making.makeAgain(deviceId, left, line.slice(left.length)));
      } else if (!own.has(deviceId)) {
        return;
      } else if (!(await makeOwn(deviceId, line))) {
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

  /** Answers whether the first in line is one of ours. */
  async function makeOwn(deviceId: DeviceId, line: readonly WaitingLook[]): Promise<boolean> {
    const ofDevice = own.get(deviceId);
    const [first] = line;
    const found = first && ofDevice?.get(first.id);
    if (first === undefined || found === undefined) return false;
    const { task } = found;
    if (task !== undefined) {
      await atOnce.run(() => task(line.slice(1)));
      settle(deviceId, first.id, over);
      return true;
    }
    const looks = firstOf(line, ({ id }) => ofDevice?.get(id)?.push !== undefined);
    const some = looks.flatMap((look) => {
      const push = ofDevice?.get(look.id)?.push;
      return push === undefined ? [] : { look, push };
    });
    const rest = line.slice(some.length);
    const outcomes = await atOnce.run(() => making.makePushes(deviceId, some, rest));
    some.forEach(({ look }, at) => {
      settle(deviceId, look.id, outcomes[at] ?? over);
    });
    return true;
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
