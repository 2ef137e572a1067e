import type { Instant } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { type Payer, payerOfAccount } from '../budgets/payer.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { Device } from '../devices/device.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import {
  type DeviceId,
  type NotificationId,
  type SensorId,
  sameUsername,
  type Username,
} from '../ids.ts';
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
  /** The devices of a rule that exist, a few megabytes at a time. */
  devicesOf(rule: Rule): AsyncIterable<readonly Device[]>;
  /** How many silences it would wait for, with the sensors that are there now. */
  countSilences(rule: Rule): Promise<number>;
}

/** Devices, with all that they have, that are in memory at once: others have their turn between. */
const devicesPerStep = 10;

export function createRuleBook(options: {
  readonly store: Pick<NotificationStore, 'load'>;
  readonly states: StateBook;
  readonly evaluations: Evaluations;
  readonly devices: Pick<DeviceStore, 'find' | 'candidates' | 'readSome'>;
  readonly datapoints: Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;
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

  /** Named ones, whoever owns them. */
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

  /** All of an owner, in order of creation; those of others are in nobody's way. */
  async function* devicesOwnedBy(owner: Username): AsyncGenerator<readonly Device[]> {
    const equals = new Map([['owner', owner]]);
    const search = { visibleTo: { who: 'everything' }, equals } as const;
    let after: number | undefined;
    do {
      const page = await devices.candidates(after === undefined ? search : { ...search, after });
      let { ids } = page;
      while (ids.length > 0) {
        const some = await devices.readSome(ids);
        ids = ids.slice(some.taken);
        yield some.devices.filter((device) => sameUsername(device.owner, owner));
        await yieldToEventLoop();
      }
      after = page.next;
    } while (after !== undefined);
  }

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

  /** When each of these sensors was heard of last. */
  async function lastHeard(
    some: readonly Device[],
    sensorIds: ReadonlySet<SensorId>,
  ): Promise<(device: Device, sensorId: SensorId) => Instant | undefined> {
    const heard = new Map<Device, Map<SensorId, Instant>>();
    const brief = await datapoints.briefLastValues(some.map(({ id }) => id));
    for (const device of some) {
      const ofDevice = new Map<SensorId, Instant>();
      heard.set(device, ofDevice);
      for (const sensorId of sensorIds) {
        const found = brief.get(device.id)?.get(sensorId);
        const last =
          found === 'large' ? await datapoints.lastValue({ deviceId: device.id, sensorId }) : found;
        if (last !== undefined) ofDevice.set(sensorId, last.receivedAt);
      }
    }
    return (device, sensorId) => heard.get(device)?.get(sensorId);
  }

  async function watchSilences(rule: Rule): Promise<void> {
    const { silences } = rule.expression;
    if (silences.length === 0) return;
    const sensorIds = new Set(silences.map(({ sensorId }) => sensorId));
    for await (const some of devicesOf(rule)) {
      const heard = await lastHeard(some, sensorIds);
      // Changed or removed meanwhile: whoever did that watches what there is to watch.
      if (index.find(rule.notification.id)?.notification !== rule.notification) return;
      for (const device of some) watchOn(rule, device, sensorIds, heard);
    }
  }

  function watchOn(
    rule: Rule,
    device: Device,
    sensorIds: ReadonlySet<SensorId>,
    heard: (device: Device, sensorId: SensorId) => Instant | undefined,
  ): void {
    const state = states.peek(rule.notification.id, device.id);
    for (const sensorId of sensorIds) {
      if (sensorOf(device, sensorId) === undefined) continue;
      const seenAt = heard(device, sensorId) ?? rule.notification.createdAt;
      options.silences().watch(
        { rule, deviceId: device.id, sensorId, seenAt },
        {
          isTold: isSilenceTold(state.device, sensorId, seenAt),
          notBefore: noLookBefore(rule, state),
        },
      );
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
