import type { Clock } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { parseTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/access.ts';
import type { GrantStore } from '../access/grant-store.ts';
import type { Actor } from '../actor.ts';
import { budgetError } from '../budgets/budget.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { type Payer, payerOf } from '../budgets/payer.ts';
import { sensorOf } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource } from '../devices/devices.ts';
import { DomainError, forbidden, invalid, notFound } from '../errors.ts';
import { type DeviceId, type NotificationId, parseNotificationId, sameUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from '../users/account-access.ts';
import type { FiledDelivery } from './delivery.ts';
import type { Evaluation, Evaluations } from './evaluations.ts';
import { parseExpression } from './expression.ts';
import type {
  Condition,
  Notification,
  NotificationChanges,
  NotificationDraft,
  TalliedNotification,
} from './notification.ts';
import type { NotificationStore } from './notification-store.ts';
import type { Notifier } from './notifier.ts';
import { createReadable, isInCharge } from './readable.ts';
import { bytesOf, createRule, type Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Changes to a notification; of its condition only what is named. */
export type NotificationPatch = Omit<NotificationChanges, 'condition'> & {
  readonly condition?: Partial<Condition>;
};

/** Notifications, with the rights of [contract 4]: they belong to who made them. */
export interface Notifications {
  create(actor: Actor, draft: NotificationDraft): Promise<NotificationId>;
  /** For its owner, admins, and whoever may view all devices it names. */
  get(actor: Actor, id: NotificationId): Promise<TalliedNotification>;
  /** Those that the actor may read, in order of creation. */
  list(
    actor: Actor,
    page: Page,
  ): Promise<{ readonly notifications: readonly TalliedNotification[]; readonly total: number }>;
  update(actor: Actor, id: NotificationId, changes: NotificationPatch): Promise<void>;
  remove(actor: Actor, id: NotificationId): Promise<void>;
  /** What was sent to whom, newest first; for its owner and admins. */
  deliveries(
    actor: Actor,
    id: NotificationId,
    page: Page,
  ): Promise<{ readonly deliveries: readonly FiledDelivery[]; readonly total: number }>;
  /** The last evaluations, newest first; for its owner and admins. */
  why(actor: Actor, id: NotificationId): Promise<readonly Evaluation[]>;
}

export interface NotificationParts {
  readonly store: NotificationStore;
  readonly devices: Pick<DeviceStore, 'find' | 'list' | 'existing'>;
  readonly grants: Pick<GrantStore, 'listReaching'>;
  readonly access: Access;
  readonly book: RuleBook;
  readonly evaluations: Pick<Evaluations, 'of'>;
  readonly notifier: Pick<Notifier, 'evaluate'>;
  readonly clock: Clock;
  readonly budgets: Budgets;
  readonly evaluateOnCreate: boolean;
}

export function createNotifications(parts: NotificationParts): Notifications {
  const { store, devices, access, book, notifier, clock, budgets } = parts;
  const readable = createReadable({ ...parts, index: book.index });

  async function require(id: NotificationId): Promise<TalliedNotification> {
    const found = await store.find(id);
    if (found === undefined) throw noNotification(id);
    return found;
  }

  async function requireOwn(actor: Actor, id: NotificationId): Promise<TalliedNotification> {
    requirePerson(actor);
    const found = await require(id);
    if (isInCharge(actor, found.notification)) return found;
    throw forbidden('only its owner or an admin may do this with a notification');
  }

  /** Nobody may watch data that is not theirs to see, or set what is not theirs to set. */
  async function requireRights(actor: Actor, draft: NotificationDraft): Promise<void> {
    for (const [index, id] of draft.condition.devices.entries()) {
      if (index % devicesPerTurn === devicesPerTurn - 1) await yieldToEventLoop();
      const device = await devices.find(id);
      // One that does not exist hinders nobody [contract 4].
      if (device === undefined) continue;
      await access.require(actor, 'devices-data:view', deviceResource(device));
    }
    if (draft.action.kind !== 'actuation') return;
    const target = await devices.find(draft.action.deviceId);
    if (target === undefined) return;
    await access.requireSetting(actor, deviceResource(target));
  }

  /** Strangers who name a device cost its pushes: their number ends, its owner's does not. */
  async function requireRoomFor(deviceId: DeviceId, { id, owner }: Notification): Promise<void> {
    const naming = book.index.rulesNaming(deviceId);
    const max = limits.notificationsOfStrangersMax;
    if (naming.length < max) return;
    const device = await devices.find(deviceId);
    if (device !== undefined && sameUsername(device.owner, owner)) return;
    const strangers = naming.filter(
      ({ notification: other }) =>
        other.id !== id && (device === undefined || !sameUsername(other.owner, device.owner)),
    );
    if (strangers.length < max) return;
    throw limitReached(`${deviceId} has ${max} notifications of others than its owner already`);
  }

  /** Each push to a sensor looks at all its rules, whoever made them. */
  async function requireRoom({ triggers, notification }: Rule): Promise<void> {
    const { id, owner, condition } = notification;
    const isOwn = (other: Rule): boolean => sameUsername(other.notification.owner, owner);
    const { notificationsPerUserAndSensorMax: ownMax, notificationsPerSensorMax: allMax } = limits;
    // Without devices it stands beside those of its owner alone.
    const places = condition.devices.length === 0 ? [undefined] : condition.devices;
    for (const deviceId of condition.devices) await requireRoomFor(deviceId, notification);
    for (const deviceId of places) {
      for (const sensorId of triggers) {
        const rules = book.index.rulesAt(deviceId, sensorId, owner);
        if (rules.length < ownMax) continue;
        const others = rules.filter(({ notification: other }) => other.id !== id);
        if (others.filter(isOwn).length >= ownMax) {
          throw limitReached(
            `a user may have ${ownMax} notifications on a sensor such as ${sensorId}`,
          );
        }
        if (deviceId === undefined || others.length < allMax) continue;
        const device = await devices.find(deviceId);
        if (device !== undefined && sameUsername(device.owner, owner)) continue;
        throw limitReached(
          `the sensor ${sensorId} of ${deviceId} has ${allMax} notifications already`,
        );
      }
    }
  }

  /** What it takes up in memory is its owner's, and what would not be watched is not made. */
  async function reserve(rule: Rule): Promise<() => void> {
    const former = book.index.find(rule.notification.id);
    const silences = budgets.of('silences');
    const added =
      (await book.countSilences(rule)) - (former ? await book.countSilences(former) : 0);
    const refusal = added > 0 ? silences.check(rule.payer, added) : undefined;
    if (refusal !== undefined) throw budgetError(silences, refusal);
    const room = budgets.of('notification_bytes');
    const bytes = bytesOf(rule) - (former === undefined ? 0 : bytesOf(former));
    if (bytes <= 0) return () => undefined;
    room.takeOrThrow(rule.payer, bytes);
    // The book counts the rule itself from then on.
    return () => room.release(rule.payer, bytes);
  }

  async function evaluateNow(rule: Rule): Promise<void> {
    for (const device of await book.devicesOf(rule)) {
      const sensorId = rule.triggers.find((id) => sensorOf(device, id) !== undefined);
      if (sensorId !== undefined) await notifier.evaluate(rule, device, sensorId);
    }
  }

  return {
    async create(actor, draft) {
      const { username: owner } = requirePerson(actor);
      const now = clock.now();
      const id = parseNotificationId(createHexId());
      const notification = { ...draft, id, owner, createdAt: now, modifiedAt: now };
      const payer = payerOf(actor);
      parseExpression(draft.condition.expression, { isStrict: true });
      const drafted = requireSound(notification, payer);
      await requireRights(actor, draft);
      await requireRoom(drafted);
      const release = await reserve(drafted);
      let rule: Rule;
      try {
        const outcome = await store.insert(notification);
        if (outcome === 'missing') throw notFound(`there is no user ${owner}`);
        if (outcome === 'too_many') {
          const max = limits.notificationsPerUserMax;
          throw limitReached(`a user may have ${max} notifications`);
        }
        rule = await book.put(notification, { payer, isWatchedAnew: true });
      } finally {
        release();
      }
      if (parts.evaluateOnCreate) await evaluateNow(rule);
      return id;
    },
    async get(actor, id) {
      const found = await require(id);
      if (await readable.may(actor, found.notification)) return found;
      throw forbidden('you may not view all devices of this notification');
    },
    async list(actor, { limit, offset }) {
      const rules = await readable.rulesOf(actor);
      const ids = rules.slice(offset, offset + limit).map(({ notification }) => notification.id);
      return { notifications: await store.findMany(ids), total: rules.length };
    },
    async update(actor, id, { condition, ...others }) {
      const { notification } = await requireOwn(actor, id);
      const changes: NotificationChanges =
        condition === undefined
          ? others
          : { ...others, condition: { ...notification.condition, ...condition } };
      const changed = withChanges(notification, changes, clock.now());
      const { expression } = changed.condition;
      // One that is stored keeps its meaning until somebody changes it.
      if (expression !== notification.condition.expression) {
        parseExpression(expression, { isStrict: true });
      }
      const payer = book.index.find(id)?.payer ?? payerOf(actor);
      const drafted = requireSound(changed, payer);
      if (changes.condition !== undefined) await requireRoom(drafted);
      if (changes.condition !== undefined || changes.action !== undefined) {
        await requireRights(actor, changed);
      }
      const release = await reserve(drafted);
      try {
        if ((await store.update(id, changes, changed.modifiedAt)) === 'missing') {
          throw noNotification(id);
        }
        const { notification: stored } = await require(id);
        await book.put(stored, { payer, isWatchedAnew: changes.condition !== undefined });
      } finally {
        release();
      }
    },
    async remove(actor, id) {
      await requireOwn(actor, id);
      if ((await store.remove(id)) === 'missing') throw noNotification(id);
      book.remove(id);
    },
    async deliveries(actor, id, page) {
      await requireOwn(actor, id);
      return store.deliveries(id, page);
    },
    async why(actor, id) {
      await requireOwn(actor, id);
      return parts.evaluations.of(id);
    },
  };
}

/** Devices that are asked for before others have their turn. */
const devicesPerTurn = 50;

const limitReached = (sentence: string) => new DomainError('limit_reached', sentence);

/** Refuses what can never fire or be kept; answers the rule that it makes. */
export function requireSound(notification: Notification, payer: Payer): Rule {
  const { action, expires } = notification;
  const rule = createRule(notification, payer);
  if (rule.triggers.length === 0) {
    throw invalid('condition must name a sensor, in sensors or in expression');
  }
  const pairs = notification.condition.devices.length * rule.triggers.length;
  if (pairs > limits.conditionPairsMax) {
    throw invalid(
      `devices times sensors must be at most ${limits.conditionPairsMax}, got ${pairs}`,
    );
  }
  if (expires !== undefined && parseTimestamp(expires) === undefined) {
    throw invalid('expires must be a date such as 2030-01-31T12:00:00Z');
  }
  if (action.kind !== 'message') return rule;
  const count = action.usernames.length * action.channels.length;
  if (count <= limits.deliveriesPerFiringMax) return rule;
  throw invalid(
    `usernames times channels must be at most ${limits.deliveriesPerFiringMax}, got ${count}`,
  );
}

function withChanges(
  notification: Notification,
  changes: NotificationChanges,
  at: number,
): Notification {
  const merged = Object.entries({ ...notification, ...changes, modifiedAt: at });
  // The fields keep their types: required ones are never set to undefined by the wire.
  return Object.fromEntries(
    merged.filter(([, value]) => value !== undefined),
  ) as unknown as Notification;
}

const noNotification = (id: NotificationId) => notFound(`there is no notification with id ${id}`);
