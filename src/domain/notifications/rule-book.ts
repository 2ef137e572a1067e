import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { type Payer, payerOfAccount } from '../budgets/payer.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { Device } from '../devices/device.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { type NotificationId, sameUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import type { UserStore } from '../users/user-store.ts';
import type { Evaluations } from './evaluations.ts';
import type { Notification } from './notification.ts';
import type { NotificationStore } from './notification-store.ts';
import { bytesOf, createRule, type Rule } from './rule.ts';
import { createSensorIndex, type SensorIndex } from './sensor-index.ts';
import type { Silences } from './silences.ts';
import type { StateBook } from './state-book.ts';
import { isSilenceTold, noLookBefore } from './step.ts';

/** All rules of this process, ready for evaluation. */
export interface RuleBook {
  readonly index: SensorIndex;
  /** Fetches all notifications; before anything is pushed. */
  load(): Promise<void>;
  /** Adds a notification; one that is known keeps what it remembers unless it watches anew. */
  put(
    notification: Notification,
    options: { readonly payer: Payer; readonly isWatchedAnew: boolean },
  ): Promise<Rule>;
  remove(id: NotificationId): void;
  /** Removes what an account made that is gone: its store took the notifications along. */
  removeOf(payer: Payer): void;
  /** The devices of a rule that exist. */
  devicesOf(rule: Rule): Promise<readonly Device[]>;
  /** How many silences it would wait for, with the sensors that are there now. */
  countSilences(rule: Rule): Promise<number>;
}

/** Devices that are asked for before others have their turn. */
const devicesPerTurn = 50;

export function createRuleBook(options: {
  readonly store: Pick<NotificationStore, 'load'>;
  readonly states: StateBook;
  readonly evaluations: Evaluations;
  readonly devices: Pick<DeviceStore, 'find' | 'list' | 'readSome'>;
  readonly datapoints: Pick<DatapointStore, 'lastValues'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly silences: () => Silences;
  readonly budgets: Budgets;
  readonly reporter: Pick<Reporter, 'rowSetAside'>;
  readonly log: Log;
}): RuleBook {
  const { store, devices, datapoints, states, evaluations, log } = options;
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

  async function devicesOf({ notification, triggers }: Rule): Promise<readonly Device[]> {
    const { condition, owner } = notification;
    if (condition.devices.length > 0) {
      const found: Device[] = [];
      for (const [index, id] of condition.devices.entries()) {
        if (index % devicesPerTurn === devicesPerTurn - 1) await yieldToEventLoop();
        const device = await devices.find(id);
        if (device !== undefined) found.push(device);
      }
      return found;
    }
    const page = { limit: limits.evaluatedDevicesMax, offset: 0 };
    const listing = await devices.list({ ...page, visibleTo: { who: { username: owner } } });
    let ids = listing.devices
      .filter((device) => sameUsername(device.owner, owner))
      .map(({ id }) => id);
    const found: Device[] = [];
    while (ids.length > 0) {
      const some = await devices.readSome(ids);
      ids = ids.slice(some.taken);
      for (const device of some.devices) {
        const isWatched = triggers.some((sensorId) => sensorOf(device, sensorId) !== undefined);
        if (isWatched && device.isPending !== true) found.push(device);
      }
      await yieldToEventLoop();
    }
    return found;
  }

  async function countSilences(rule: Rule): Promise<number> {
    const { silences } = rule.expression;
    if (silences.length === 0) return 0;
    const found = await devicesOf(rule);
    return found.reduce((sum, device) => {
      const there = silences.filter(({ sensorId }) => sensorOf(device, sensorId) !== undefined);
      return sum + there.length;
    }, 0);
  }

  async function watchSilences(rule: Rule): Promise<void> {
    const { silences } = rule.expression;
    if (silences.length === 0) return;
    const found = await devicesOf(rule);
    const lasts = await datapoints.lastValues(found.map(({ id }) => id));
    // Changed or removed meanwhile: whoever did that watches what there is to watch.
    if (index.find(rule.notification.id)?.notification !== rule.notification) return;
    for (const device of found) {
      const state = states.peek(rule.notification.id, device.id);
      for (const sensorId of new Set(silences.map((silence) => silence.sensorId))) {
        if (sensorOf(device, sensorId) === undefined) continue;
        const last = lasts.get(device.id)?.get(sensorId)?.receivedAt;
        const seenAt = last ?? rule.notification.createdAt;
        options.silences().watch(
          { rule, deviceId: device.id, sensorId, seenAt },
          {
            isTold: isSilenceTold(state.device, sensorId, seenAt),
            notBefore: noLookBefore(rule, state),
          },
        );
      }
    }
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
    async load() {
      const payers = new Map<Username, Payer>();
      for (const { notification, tally, states: stored } of await store.load()) {
        const { id, owner } = notification;
        try {
          const rule = enter(createRule(notification, await payerOfOwner(payers, owner)));
          states.open(id, { states: stored, lastFiredAt: tally.lastFiredAt });
          await watchSilences(rule);
        } catch (error) {
          // One that cannot be understood must not keep the others from being watched.
          remove(id);
          options.reporter.rowSetAside('notifications');
          log.error({ err: error, notificationId: id }, 'a notification is damaged');
        }
      }
    },
    async put(notification, { payer, isWatchedAnew }) {
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
    removeOf(payer) {
      for (const rule of index.all()) {
        if (rule.payer === payer) remove(rule.notification.id);
      }
    },
    devicesOf,
    countSilences,
  };
}
