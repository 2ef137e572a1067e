import type { Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { type Payer, payerOfAccount } from '../budgets/payer.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { NotificationId, SensorId, Username } from '../ids.ts';
import type { Reporter } from '../reporter.ts';
import type { UserStore } from '../users/user.ts';
import type { Evaluations } from './evaluations.ts';
import type { Action, Notification } from './notification.ts';
import type { NotificationStore } from './notification-store.ts';
import { createAccountOf, stillBound, withoutAccount } from './recipients.ts';
import { bytesOf, createRule, type Rule } from './rule.ts';
import { createRuleDevices, type RuleDevices, type WatchedDevices } from './rule-devices.ts';
import { createSensorIndex, type SensorIndex } from './sensor-index.ts';
import type { Silences } from './silences.ts';
import type { StateBook } from './state-book.ts';
import { isSilenceTold, noEvaluationBefore } from './step.ts';

/** All rules of this process, ready for evaluation. */
export interface RuleBook extends RuleDevices {
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
  /** Takes an account that is gone from all rules that send to it. */
  removeRecipient(id: string): Promise<void>;
}

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
}): RuleBook {
  const { store, datapoints, states, evaluations, log } = options;
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
      // Changed or removed meanwhile: that change watches what there is to watch.
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
          notBefore: noEvaluationBefore(rule, state),
        },
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
    async load() {
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
    async removeRecipient(userId) {
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
