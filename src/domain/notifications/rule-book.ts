import type { Log } from '../../lib/log.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { Device } from '../devices/device.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { DomainError } from '../errors.ts';
import type { DeviceId, NotificationId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Notification } from './notification.ts';
import type { NotificationStore, StateChange } from './notification-store.ts';
import { createRule, freshState, type Rule } from './rule.ts';
import { createSensorIndex, type SensorIndex } from './sensor-index.ts';
import type { Silences } from './silences.ts';

/** All rules of this process, ready for evaluation. */
export interface RuleBook {
  readonly index: SensorIndex;
  /** Fetches all notifications; before anything is pushed. */
  load(): Promise<void>;
  /** Adds a notification; one that is known keeps what it remembers unless it watches anew. */
  put(notification: Notification, options?: { readonly isWatchedAnew: boolean }): Promise<Rule>;
  remove(id: NotificationId): void;
  /** The devices of a rule that exist. */
  devicesOf(rule: Rule): Promise<readonly Device[]>;
  /** A state changed without a firing: it is written soon. */
  stateChanged(rule: Rule, deviceId: DeviceId): void;
  start(): void;
  /** Writes what waits to be written. */
  stop(): Promise<void>;
}

export function createRuleBook(options: {
  readonly store: Pick<NotificationStore, 'load' | 'saveStates'>;
  readonly devices: Pick<DeviceStore, 'find' | 'list'>;
  readonly datapoints: Pick<DatapointStore, 'lastValues'>;
  readonly silences: () => Silences;
  readonly log: Log;
}): RuleBook {
  const { store, devices, datapoints, log } = options;
  const index = createSensorIndex();
  const changed = new Map<Rule, Set<DeviceId>>();
  let timer: NodeJS.Timeout | undefined;

  async function devicesOf({ notification, triggers }: Rule): Promise<readonly Device[]> {
    const { condition, owner } = notification;
    if (condition.devices.length > 0) {
      const found = await Promise.all(condition.devices.map((id) => devices.find(id)));
      return found.filter((device) => device !== undefined);
    }
    const page = { limit: limits.evaluatedDevicesMax, offset: 0, maySeeValues: () => false };
    const listing = await devices.list({ ...page, visibleTo: { who: { username: owner } } });
    return listing.devices.filter(
      (device) =>
        device.owner.toLowerCase() === owner.toLowerCase() &&
        triggers.some((sensorId) => sensorOf(device, sensorId) !== undefined),
    );
  }

  async function watchSilences(rule: Rule): Promise<void> {
    const { silences } = rule.expression;
    if (silences.length === 0) return;
    const found = await devicesOf(rule);
    const lasts = await datapoints.lastValues(found.map(({ id }) => id));
    for (const device of found) {
      const toldAt = rule.states.get(device.id)?.silenceToldAt ?? Number.NEGATIVE_INFINITY;
      for (const sensorId of new Set(silences.map((silence) => silence.sensorId))) {
        if (sensorOf(device, sensorId) === undefined) continue;
        const last = lasts.get(device.id)?.get(sensorId)?.receivedAt;
        const seenAt = last ?? rule.notification.createdAt;
        options.silences().watch({ rule, deviceId: device.id, sensorId, seenAt }, seenAt <= toldAt);
      }
    }
  }

  async function save(): Promise<void> {
    if (changed.size === 0) return;
    const states: StateChange[] = [...changed].flatMap(([rule, ids]) =>
      [...ids].map((deviceId) => ({
        notificationId: rule.notification.id,
        deviceId,
        state: rule.states.get(deviceId) ?? freshState,
      })),
    );
    changed.clear();
    try {
      await store.saveStates(states);
    } catch (error) {
      // They are found again from the last datapoints at the next start.
      log.warn({ err: error, states: states.length }, 'states of notifications were not written');
    }
  }

  function remove(id: NotificationId): void {
    const rule = index.find(id);
    if (rule !== undefined) changed.delete(rule);
    index.remove(id);
    options.silences().forget(id);
  }

  return {
    index,
    async load() {
      for (const { notification, tally, states } of await store.load()) {
        try {
          const known = { states: new Map(states) };
          const { lastFiredAt } = tally;
          const rule = createRule(
            notification,
            lastFiredAt === undefined ? known : { ...known, lastFiredAt },
          );
          index.put(rule);
          await watchSilences(rule);
        } catch (error) {
          if (!(error instanceof DomainError) || error.code !== 'invalid') throw error;
          log.error({ err: error, notificationId: notification.id }, 'a notification is damaged');
        }
      }
    },
    async put(notification, { isWatchedAnew } = { isWatchedAnew: true }) {
      const former = index.find(notification.id);
      const states = isWatchedAnew ? undefined : former?.states;
      const rule = createRule(notification, {
        ...(states !== undefined && { states }),
        ...(former !== undefined && {
          lastFiredAt: former.lastFiredAt,
          evaluations: former.evaluations,
        }),
      });
      options.silences().forget(notification.id);
      index.put(rule);
      await watchSilences(rule);
      return rule;
    },
    remove,
    devicesOf,
    stateChanged(rule, deviceId) {
      const ids = changed.get(rule) ?? new Set();
      changed.set(rule, ids.add(deviceId));
    },
    start() {
      timer = setInterval(() => void save(), limits.statesPauseMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await save();
    },
  };
}
