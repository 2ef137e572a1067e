import { limits } from '../../domain/limits.ts';
import type { Firing, FiringOutcome, NewDelivery } from '../../domain/notifications/delivery.ts';
import type { NotificationStore } from '../../domain/notifications/notification-store.ts';
import { outboxFull } from '../../domain/notifications/notification-store.ts';
import type { Instant } from '../../lib/clock.ts';
import { withChanges } from '../../lib/record.ts';
import { createHexId } from '../../lib/secret-token.ts';
import {
  findByUsername,
  type KeptDelivery,
  type KeptNotification,
  type MemoryState,
  removeDeliveriesOf,
  sameUsername,
} from './memory-state.ts';

/** Notifications in memory. */
export function createNotificationStore(state: MemoryState): NotificationStore {
  const { notifications } = state;

  return {
    async insert(notification, tally = { timesSent: 0 }) {
      const { id, owner } = notification;
      const own = [...notifications.values()].filter((kept) =>
        sameUsername(kept.notification.owner, owner),
      );
      if (own.length >= limits.notificationsPerUserMax) return 'too_many';
      if (findByUsername(state, owner) === undefined) return 'missing';
      notifications.set(id, { notification, tally, states: new Map() });
      return 'inserted';
    },
    find: async (id) => talliedOf(notifications.get(id)),
    findMany: async (ids) => ids.flatMap((id) => talliedOf(notifications.get(id)) ?? []),
    load: async () =>
      [...notifications.values()].map((kept) => ({ ...kept, states: new Map(kept.states) })),
    async update(id, changes, at) {
      const kept = notifications.get(id);
      if (kept === undefined) return 'missing';
      kept.notification = withChanges(kept.notification, { ...changes, modifiedAt: at });
      if (changes.condition !== undefined) kept.states.clear();
      return 'updated';
    },
    async remove(id) {
      removeDeliveriesOf(state, { kind: 'notification', id });
      return notifications.delete(id) ? 'removed' : 'missing';
    },
    async saveStates(changes) {
      for (const { notificationId, deviceId, state: remembered } of changes) {
        notifications.get(notificationId)?.states.set(deviceId, remembered);
      }
    },
    fire: async (firings) => firings.map((firing) => fire(state, firing)),
    async deliveries(id, { limit, offset }) {
      const own = deliveriesOf(state, id).toReversed();
      const page = own.slice(offset, offset + limit).map(([, kept]) => {
        const { username, channel, message, progress, attempts, createdAt } = kept;
        return { username, channel, message, progress, attempts, createdAt };
      });
      return { deliveries: page, total: own.length };
    },
  };
}

const talliedOf = (kept: KeptNotification | undefined) =>
  kept && { notification: kept.notification, tally: kept.tally };

const deliveriesOf = (state: MemoryState, id: string): [number, KeptDelivery][] =>
  [...state.deliveries].filter(
    ([, { source }]) => source.kind === 'notification' && source.id === id,
  );

function fire(state: MemoryState, firing: Firing): FiringOutcome {
  const { notificationId: id, at, throttlingMs } = firing;
  const kept = state.notifications.get(id);
  if (kept === undefined) return { kind: 'gone' };
  if (kept.notification.status !== 'active') return { kind: 'inactive' };
  const { tally } = kept;
  const { lastFiredAt } = tally;
  if (throttlingMs > 0 && lastFiredAt !== undefined && at < lastFiredAt + throttlingMs) {
    return { kind: 'throttled', lastFiredAt };
  }
  const waiting = deliveriesOf(state, id).filter(([, one]) => one.progress.status === 'pending');
  const ofPayer = [...state.deliveries.values()].filter(
    ({ payer, progress }) =>
      progress.status === 'pending' && sameUsername(payer, kept.notification.owner),
  );
  let room = Math.min(
    limits.deliveriesPendingMax - waiting.length,
    limits.deliveriesPendingPerPayerMax - ofPayer.length,
  );
  const deliveryIds = firing.deliveries.map((delivery) => {
    const isWaiting = delivery.progress.status === 'pending';
    const isFull = isWaiting && room <= 0;
    if (isWaiting) room -= 1;
    const progress = isFull ? ({ status: 'failed', reason: outboxFull } as const) : undefined;
    return file(state, kept, progress === undefined ? delivery : { ...delivery, progress }, at);
  });
  kept.tally = {
    ...kept.tally,
    timesSent: tally.timesSent + deliveryIds.length,
    lastFiredAt: Math.max(at, lastFiredAt ?? at),
  };
  kept.states.set(firing.deviceId, firing.state);
  const completed = deliveriesOf(state, id).slice(0, -limits.deliveriesPerNotificationMax);
  for (const [position, { progress }] of completed) {
    if (progress.status !== 'pending') state.deliveries.delete(position);
  }
  return { kind: 'fired', deliveryIds };
}

function file(
  state: MemoryState,
  kept: KeptNotification,
  { isUnderWay, ...delivery }: NewDelivery,
  at: Instant,
): string {
  const { id, owner } = kept.notification;
  const { progress } = delivery;
  if (progress.status === 'failed') {
    kept.tally = { ...kept.tally, lastFailureAt: at, lastFailureReason: progress.reason };
  }
  state.lastDelivery += 1;
  const token = createHexId();
  state.deliveries.set(state.lastDelivery, {
    ...delivery,
    source: { kind: 'notification', id },
    payer: owner,
    token,
    attempts: Number(isUnderWay === true),
    createdAt: at,
    isCharged: false,
  });
  return `${token}-${state.lastDelivery}`;
}
