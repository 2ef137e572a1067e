import type { Instant } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import { type Payer, payerOfAccount } from '../budgets/budget.ts';
import type { Budgets } from '../budgets/budgets.ts';
import type { ChangeFeed } from '../changes.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { type Device, type DeviceStore, sensorOf } from '../devices/device.ts';
import {
  type DeviceId,
  type NotificationId,
  type SensorId,
  sameUsername,
  type Username,
} from '../ids.ts';
import { limits } from '../limits.ts';
import type { WantedValues } from '../members/wanted-values.ts';
import type { Reporter } from '../reporter.ts';
import type { UserStore } from '../users/user.ts';
import type { Evaluations } from './evaluations.ts';
import type { Action, Notification } from './notification.ts';
import type { NotificationStore } from './notification-store.ts';
import { createAccountOf, stillBound, withoutAccount } from './recipients.ts';
import { bytesOf, createRule, type Rule } from './rule.ts';
import { createSensorIndex } from './sensor-index.ts';
import { lastDatapoints } from './sensor-values.ts';
import type { Silences } from './silences.ts';
import type { StateBook } from './state-book.ts';
import { isSilenceOver } from './step.ts';

/** All rules of this process, ready for evaluation. */
export function createRuleBook(options: {
  readonly store: Pick<NotificationStore, 'load' | 'update'>;
  readonly states: StateBook;
  readonly evaluations: Evaluations;
  readonly devices: WatchedDevices;
  readonly datapoints: Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly silences: () => Silences;
  readonly budgets: Budgets;
  readonly reporter: Pick<Reporter, 'rowSetAside'>;
  readonly log: Log;
  /** Absent: no process but this one stores values. */
  readonly wanted?: WantedValues | undefined;
}) {
  const { store, states, evaluations, log, wanted } = options;
  const { devicesOf, countSilences } = createRuleDevices(options.devices);
  const index = createSensorIndex();
  const room = options.budgets.of('notification_bytes');
  async function payerOfOwner(payers: Map<Username, Payer>, owner: Username): Promise<Payer> {
    const known = payers.get(owner);
    if (known !== undefined) return known;
    const user = await options.users.findByUsername(owner);
    const payer = payerOfAccount(user?.id ?? owner.toLowerCase());
    payers.set(owner, payer);
    return payer;
  }

  async function watchSilences(rule: Rule): Promise<void> {
    const { silences } = rule.expression;
    if (silences.length === 0) return;
    const sensorIds = new Set(silences.map(({ sensorId }) => sensorId));
    for await (const some of devicesOf(rule)) {
      const ids = some.map(({ id }) => id);
      wanted?.count(ids, 1);
      try {
        // Where it cannot be known, a value that was missed is found when its silence is due.
        await wanted?.settled(ids).catch((err) => log.warn({ err }, 'some values may be missed'));
        const heard = await lastHeard(options.datapoints, some, sensorIds);
        // Changed or removed meanwhile: that change watches what there is to watch.
        if (index.find(rule.notification.id)?.notification !== rule.notification) return;
        for (const device of some) watchOn(rule, device, sensorIds, heard);
      } finally {
        wanted?.count(ids, -1);
      }
    }
  }

  function watchOn(
    rule: Rule,
    device: Device,
    sensorIds: ReadonlySet<SensorId>,
    heard: (device: Device, sensorId: SensorId) => Instant | undefined,
  ): void {
    const state = states.peek(rule.notification.id, device.id).device;
    for (const sensorId of sensorIds) {
      if (sensorOf(device, sensorId) === undefined) continue;
      const seenAt = heard(device, sensorId) ?? rule.notification.createdAt;
      options
        .silences()
        .watch(
          { rule, deviceId: device.id, sensorId, seenAt },
          { isTold: isSilenceOver(rule, state, sensorId, seenAt) },
        );
    }
  }

  async function withAction(notification: Notification, action: Action): Promise<Notification> {
    if (action === notification.action) return notification;
    const { id, modifiedAt } = notification;
    // An action that could not be stored holds until the next start, which finds the same.
    await store.update(id, { action }, modifiedAt).catch((error: unknown) => {
      log.warn({ err: error, notificationId: id }, 'the recipients could not be stored');
    });
    return { ...notification, action };
  }

  function enter(rule: Rule): Rule {
    index.put(rule);
    room.add(rule.payer, bytesOf(rule));
    evaluations.open(rule.notification.id);
    return rule;
  }

  function leave(id: NotificationId): void {
    const rule = index.find(id);
    if (rule !== undefined) room.release(rule.payer, bytesOf(rule));
    options.silences().forget(id);
  }

  function remove(id: NotificationId): void {
    leave(id);
    index.remove(id);
    states.forget(id);
    evaluations.forget(id);
  }

  return {
    index,
    /** Fetches all notifications; before anything is pushed. */
    async load(): Promise<void> {
      const payers = new Map<Username, Payer>();
      const accountOf = createAccountOf(options.users);
      for (const { notification: loaded, tally, states: stored } of await store.load()) {
        const { id, owner } = loaded;
        try {
          const action = await stillBound(accountOf, loaded.action);
          const notification = await withAction(loaded, action);
          const rule = enter(createRule(notification, await payerOfOwner(payers, owner)));
          states.open(id, { states: stored, lastFiredAt: tally.lastFiredAt });
          await watchSilences(rule);
        } catch (error) {
          // A notification that cannot be understood must not keep the others from being watched.
          remove(id);
          options.reporter.rowSetAside('notifications');
          log.error({ err: error, notificationId: id }, 'a notification is damaged');
        }
      }
    },
    /** Adds a notification; one that is known keeps what it remembers unless it watches anew. */
    async put(
      notification: Notification,
      { payer, isWatchedAnew }: { readonly payer: Payer; readonly isWatchedAnew: boolean },
    ): Promise<Rule> {
      const { id } = notification;
      const rule = createRule(notification, payer);
      leave(id);
      enter(rule);
      states.open(id);
      if (isWatchedAnew) states.forgetDevices(id);
      await watchSilences(rule);
      return rule;
    },
    remove,
    /** Removes what an account made that is gone: its store took the notifications along. */
    removeOf(payer: Payer): void {
      for (const rule of index.all()) if (rule.payer === payer) remove(rule.notification.id);
    },
    /** Takes an account that is gone from all rules that send to it. */
    async removeRecipient(userId: string): Promise<void> {
      for (const rule of index.all()) {
        const { notification, payer } = rule;
        const action = withoutAccount(notification.action, userId);
        if (action === notification.action) continue;
        const changed = await withAction(notification, action);
        leave(notification.id);
        enter(createRule(changed, payer));
        await watchSilences(index.find(notification.id) ?? rule);
      }
    },
    devicesOf,
    countSilences,
  };
}
export type RuleBook = ReturnType<typeof createRuleBook>;

/** Finds when each of these sensors sent last. */
async function lastHeard(
  datapoints: Pick<DatapointStore, 'briefLastValues' | 'lastValue'>,
  some: readonly Device[],
  sensorIds: ReadonlySet<SensorId>,
): Promise<(device: Device, sensorId: SensorId) => Instant | undefined> {
  const heard = new Map(some.map(({ id }) => [id, new Map<SensorId, Instant>()]));
  const wanted = new Map(some.map(({ id }) => [id, sensorIds]));
  for await (const { deviceId, sensorId, last } of lastDatapoints(datapoints, wanted)) {
    heard.get(deviceId)?.set(sensorId, last.receivedAt);
  }
  return ({ id }, sensorId) => heard.get(id)?.get(sensorId);
}

/** Reads of devices that rules need. */
type WatchedDevices = Pick<DeviceStore, 'find' | 'candidates' | 'readSome'>;
/** Devices, with all that they have, that are in memory at once: other work runs between. */
const devicesPerStep = 10;

/** Finds which devices a rule watches. */
function createRuleDevices(devices: WatchedDevices) {
  /** Named devices, of any owner. */
  async function* devicesNamed(ids: readonly DeviceId[]): AsyncGenerator<readonly Device[]> {
    for (let at = 0; at < ids.length; at += devicesPerStep) {
      const found: Device[] = [];
      for (const id of ids.slice(at, at + devicesPerStep)) {
        const device = await devices.find(id);
        if (device !== undefined) found.push(device);
      }
      yield found;
      await yieldToEventLoop();
    }
  }

  /** All devices of an owner, in order of creation; those of other owners cost nothing. */
  async function* devicesOwnedBy(owner: Username): AsyncGenerator<readonly Device[]> {
    const equals = new Map([['owner', owner]]);
    const search = { visibleTo: { who: 'everything' }, equals } as const;
    let after: number | undefined;
    do {
      const page = await devices.candidates(after === undefined ? search : { ...search, after });
      let ids = page.devices.map(({ id }) => id);
      while (ids.length > 0) {
        const some = await devices.readSome(ids);
        ids = ids.slice(some.taken);
        yield some.devices.filter((device) => sameUsername(device.owner, owner));
        await yieldToEventLoop();
      }
      after = page.next;
    } while (after !== undefined);
  }

  /** The devices of a rule that exist, a few megabytes at a time. */
  async function* devicesOf({ notification, triggers }: Rule): AsyncGenerator<readonly Device[]> {
    const { condition, owner } = notification;
    if (condition.devices.length > 0) {
      yield* devicesNamed(condition.devices);
      return;
    }
    let left = limits.evaluatedDevicesMax;
    for await (const owned of devicesOwnedBy(owner)) {
      const watched = owned.filter(
        (device) =>
          device.isPending !== true &&
          triggers.some((sensorId) => sensorOf(device, sensorId) !== undefined),
      );
      yield watched.slice(0, left);
      left -= watched.length;
      if (left <= 0) return;
    }
  }

  /** How many silences it would wait for, with the sensors that are there now. */
  async function countSilences(rule: Rule): Promise<number> {
    const { silences } = rule.expression;
    let count = 0;
    if (silences.length === 0) return count;
    for await (const some of devicesOf(rule)) {
      for (const device of some) {
        count += silences.filter(({ sensorId }) => sensorOf(device, sensorId)).length;
      }
    }
    return count;
  }

  return { devicesOf, countSilences };
}

/**
 * Keeps the rules of this process as other processes make and change them. What this one changes
 * itself it finds there already.
 */
export function followRules(options: {
  readonly changes: Pick<ChangeFeed, 'onChange'>;
  readonly store: Pick<NotificationStore, 'find' | 'load'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly book: RuleBook;
}): void {
  const { changes, store, users, book } = options;

  async function follow(id: NotificationId): Promise<void> {
    const stored = await store.find(id);
    if (stored === undefined) {
      book.remove(id);
      return;
    }
    const { notification } = stored;
    const known = book.index.find(id);
    if (known !== undefined && isSame(known.notification, notification)) return;
    const owner = known === undefined ? await users.findByUsername(notification.owner) : undefined;
    const payer = known?.payer ?? payerOfAccount(owner?.id ?? notification.owner.toLowerCase());
    const isWatchedAnew =
      known === undefined || !isSame(watchedBy(known.notification), watchedBy(notification));
    await book.put(notification, { payer, isWatchedAnew });
  }

  async function followAll(): Promise<void> {
    const stored = await store.load();
    const there = new Set(stored.map(({ notification }) => notification.id));
    for (const { notification } of [...book.index.all()]) {
      if (!there.has(notification.id)) book.remove(notification.id);
    }
    for (const id of there) await follow(id);
  }

  changes.onChange(async (change) => {
    if (change.kind === 'rule_changed') await follow(change.notificationId);
    if (change.kind === 'anything') await followAll();
  });
}

const watchedBy = ({ condition }: Notification) => condition;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
