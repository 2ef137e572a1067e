import type { Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import type { DeviceState } from './notification.ts';
import type { NotificationStore, StateChange, StoredState } from './notification-store.ts';
import { freshState, type RuleState } from './step.ts';

/** A firing on its way to the store: ends once, with either. */
export type Proposal = ReturnType<ReturnType<typeof createStateBook>['propose']>;

interface Change {
  readonly device: DeviceState;
  /** When the rule fired; absent: it is no firing. */
  readonly firedAt?: Instant;
  /** Whether the change is in the store, or need not be before it is applied. */
  isCompleted: boolean;
}

interface DeviceMemory {
  readonly id: NotificationId;
  readonly deviceId: DeviceId;
  state: DeviceState;
  /** Not applied yet, in order. */
  readonly changes: Change[];
}

interface RuleMemory {
  lastFiredAt: Instant | undefined;
  readonly onTheirWay: Set<Change>;
  /** When the latest of these fired; undefined: they have to be searched. */
  latestOnItsWay: Instant | undefined;
  devices: Map<DeviceId, DeviceMemory>;
}

/** An empty book of states. */
export function createStateBook(parts: {
  readonly store: Pick<NotificationStore, 'saveStates'>;
  readonly log: Log;
}) {
  const rules = new Map<NotificationId, RuleMemory>();
  const unsaved = new Set<DeviceMemory>();

  function memoryOf(rule: RuleMemory, id: NotificationId, deviceId: DeviceId): DeviceMemory {
    const known = rule.devices.get(deviceId);
    if (known !== undefined) return known;
    const made = { id, deviceId, state: freshState.device, changes: [] };
    rule.devices.set(deviceId, made);
    return made;
  }

  /** In order: what came after a firing that is on its way waits for it. */
  function applyCompleted(memory: DeviceMemory): void {
    const { changes } = memory;
    for (let [first] = changes; first?.isCompleted === true; [first] = changes) {
      changes.shift();
      memory.state = first.device;
      // The store took the state of a firing together with it.
      if (first.firedAt === undefined) unsaved.add(memory);
      else unsaved.delete(memory);
    }
  }

  return {
    /** Answers the next evaluation's state, with changes applied or on their way to the store. */
    peek(id: NotificationId, deviceId: DeviceId): RuleState {
      const rule = rules.get(id);
      if (rule === undefined) return freshState;
      const memory = rule.devices.get(deviceId);
      const device = memory?.changes.at(-1)?.device ?? memory?.state ?? freshState.device;
      const lastFiredAt = latestOf(rule);
      return lastFiredAt === undefined ? { device } : { device, lastFiredAt };
    },
    /** Takes a state that no firing led to: applied after what is on its way, and saved soon. */
    set(id: NotificationId, deviceId: DeviceId, device: DeviceState): void {
      const memory = memoryOf(rules.get(id) ?? emptyMemory(), id, deviceId);
      // Of those that wait for the same firing, the last is enough.
      const last = memory.changes.at(-1);
      if (last !== undefined && last.firedAt === undefined) memory.changes.pop();
      memory.changes.push({ device, isCompleted: true });
      applyCompleted(memory);
    },
    /** Takes the state of a firing on its way; it is applied when the firing was stored. */
    propose(
      id: NotificationId,
      deviceId: DeviceId,
      { device, lastFiredAt = Number.NEGATIVE_INFINITY }: RuleState,
    ) {
      const rule = rules.get(id) ?? emptyMemory();
      const memory = memoryOf(rule, id, deviceId);
      const change: Change = { device, firedAt: lastFiredAt, isCompleted: false };
      memory.changes.push(change);
      rule.latestOnItsWay = Math.max(latestOnItsWay(rule), lastFiredAt);
      rule.onTheirWay.add(change);
      return {
        apply(): void {
          rule.onTheirWay.delete(change);
          rule.latestOnItsWay = undefined;
          rule.lastFiredAt = Math.max(rule.lastFiredAt ?? lastFiredAt, lastFiredAt);
          change.isCompleted = true;
          applyCompleted(memory);
        },
        /** With when another process fired, if that is why. */
        drop(otherFiredAt?: Instant): void {
          rule.onTheirWay.delete(change);
          rule.latestOnItsWay = undefined;
          if (otherFiredAt !== undefined) rule.lastFiredAt = otherFiredAt;
          memory.changes.splice(memory.changes.indexOf(change), 1);
          applyCompleted(memory);
        },
      };
    },
    /** Takes in a rule with what the store has of it; one that is not in the book keeps nothing. */
    open(
      id: NotificationId,
      stored?: {
        readonly states: ReadonlyMap<DeviceId, DeviceState>;
        readonly lastFiredAt: Instant | undefined;
      },
    ): void {
      const rule = rules.get(id) ?? emptyMemory();
      rules.set(id, rule);
      if (stored === undefined) return;
      rule.lastFiredAt = stored.lastFiredAt;
      for (const [deviceId, state] of stored.states) memoryOf(rule, id, deviceId).state = state;
    },
    /** Takes what the store has of the device, where nothing is on its way. */
    refresh(deviceId: DeviceId, stored: ReadonlyMap<NotificationId, StoredState>): void {
      for (const [id, { state, lastFiredAt }] of stored) {
        const rule = rules.get(id);
        if (rule === undefined) continue;
        const before = rule.lastFiredAt ?? Number.NEGATIVE_INFINITY;
        if (lastFiredAt !== undefined) rule.lastFiredAt = Math.max(before, lastFiredAt);
        if (state === undefined && !rule.devices.has(deviceId)) continue;
        const memory = memoryOf(rule, id, deviceId);
        memory.state = state ?? freshState.device;
        unsaved.delete(memory);
      }
    },
    /** Takes the device's states that are applied and not in the store: the caller writes them. */
    takeUnsaved(deviceId: DeviceId): readonly StateChange[] {
      const taken = [...unsaved].filter(
        (memory) => memory.deviceId === deviceId && memory.changes.length === 0,
      );
      for (const memory of taken) unsaved.delete(memory);
      return taken.map(({ id, state }) => ({ notificationId: id, deviceId, state }));
    },
    /** Forgets what the rule remembers of devices, as when its condition was changed. */
    forgetDevices(id: NotificationId): void {
      const rule = rules.get(id);
      for (const memory of rule?.devices.values() ?? []) unsaved.delete(memory);
      if (rule !== undefined) rule.devices = new Map();
    },
    forget(id: NotificationId): void {
      this.forgetDevices(id);
      rules.delete(id);
    },
    /** Writes what was applied and is not in the store yet. */
    async save(): Promise<void> {
      // A state with a firing on its way is written with it, or after it.
      const saved = [...unsaved].filter(({ changes }) => changes.length === 0);
      if (saved.length === 0) return;
      const states = saved.map(({ id, deviceId, state }) => ({
        ...{ notificationId: id, deviceId, state },
      }));
      for (const memory of saved) unsaved.delete(memory);
      try {
        await parts.store.saveStates(states);
      } catch (error) {
        for (const memory of saved) unsaved.add(memory);
        parts.log.warn(
          { err: error, states: states.length },
          'states of notifications were not written',
        );
      }
    },
  };
}

/** The one owner of what rules remember. */
export type StateBook = ReturnType<typeof createStateBook>;

const emptyMemory = (): RuleMemory => ({
  lastFiredAt: undefined,
  onTheirWay: new Set(),
  latestOnItsWay: Number.NEGATIVE_INFINITY,
  devices: new Map(),
});

/** Keeps the latest of thousands on their way: else each evaluation would search them all. */
function latestOnItsWay(rule: RuleMemory): Instant {
  if (rule.latestOnItsWay !== undefined) return rule.latestOnItsWay;
  let latest = Number.NEGATIVE_INFINITY;
  for (const { firedAt = latest } of rule.onTheirWay) latest = Math.max(latest, firedAt);
  rule.latestOnItsWay = latest;
  return latest;
}

function latestOf(rule: RuleMemory): Instant | undefined {
  if (rule.onTheirWay.size === 0) return rule.lastFiredAt;
  return Math.max(rule.lastFiredAt ?? Number.NEGATIVE_INFINITY, latestOnItsWay(rule));
}
