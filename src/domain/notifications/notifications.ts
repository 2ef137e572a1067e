import type { Clock } from '../../lib/clock.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { parseTimestamp } from '../../lib/timestamp.ts';
import type { GrantStore } from '../access/grant.ts';
import type { Access } from '../access/policy.ts';
import { type Actor, isInCharge } from '../actor.ts';
import { budgetError, type Payer, payerOf } from '../budgets/budget.ts';
import type { Budgets } from '../budgets/budgets.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { ChangeSource } from '../changes.ts';
import { type DeviceStore, sensorOf } from '../devices/device.ts';
import { DomainError, forbidden, invalid, notFound } from '../errors.ts';
import {
  type DeviceId,
  type NotificationId,
  parseNotificationId,
  type SensorId,
  sameUsername,
  type Username,
} from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';
import { requirePerson } from '../users/account-access.ts';
import type { UserStore } from '../users/user.ts';
import type { Evaluation, Evaluations } from './evaluations.ts';
import { parseExpression } from './expression.ts';
import type {
  Condition,
  Notification,
  NotificationChanges,
  NotificationDraft,
  TalliedNotification,
} from './notification.ts';
import { createNamedDevices, createReadable } from './notification-rights.ts';
import type { NotificationStore } from './notification-store.ts';
import type { Notifier } from './notifier.ts';
import { bound, createAccountOf, type Reach, type Unreachable } from './recipients.ts';
import { bytesOf, createRule, type Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';

/** Changes to a notification; of its condition only what is named. */
export type NotificationPatch = Omit<NotificationChanges, 'condition'> & {
  readonly condition?: Partial<Condition>;
};

/** Recipients and devices whose lack keeps a notification from doing what it says. */
export interface Lacks {
  readonly unreachable: readonly Unreachable[];
  /** Devices that it names and that are gone, also where another device has the id since. */
  readonly goneDevices: readonly DeviceId[];
  /** Sensors that none of the named devices has. */
  readonly unknownSensors: readonly SensorId[];
}

/** Nothing, or nothing that is for the reader. */
export const lacksNothing: Lacks = { unreachable: [], goneDevices: [], unknownSensors: [] };

interface NotificationParts {
  readonly store: NotificationStore;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly reach: Reach;
  readonly devices: Pick<DeviceStore, 'find' | 'list'>;
  readonly changes: ChangeSource;
  readonly grants: Pick<GrantStore, 'listReaching'>;
  readonly access: Access;
  readonly book: RuleBook;
  readonly evaluations: Pick<Evaluations, 'of'>;
  readonly notifier: Pick<Notifier, 'evaluate'>;
  readonly clock: Clock;
  readonly budgets: Budgets;
  readonly longWork: LongWork;
  readonly evaluateOnCreate: boolean;
}

/** Notifications, with the rights of [contract 4]: they belong to who made them. */
export function createNotifications(parts: NotificationParts) {
  const { store, book, clock } = parts;
  const { requireRights, lacksOf } = createNamedDevices({ ...parts, index: book.index });
  const readable = createReadable({ ...parts, index: book.index });
  const room = createRuleQuota(parts);
  /** Changes of one owner's notifications: what one checked, another must not have changed. */
  const inOrder = createKeyedSequence();

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

  async function insert(notification: Notification, payer: Payer): Promise<Rule> {
    const drafted = requireSound(notification, payer);
    await room.requirePlaces(drafted);
    const release = await room.reserve(drafted);
    try {
      const outcome = await store.insert(notification);
      if (outcome === 'missing') throw notFound(`there is no user ${notification.owner}`);
      if (outcome === 'too_many') {
        throw limitReached(`a user may have ${limits.notificationsPerUserMax} notifications`);
      }
      return await book.put(notification, { payer, isWatchedAnew: true });
    } finally {
      release();
    }
  }

  async function change(
    actor: Actor,
    notification: Notification,
    { condition, ...others }: NotificationPatch,
  ): Promise<void> {
    const { id } = notification;
    const action = others.action && (await bound(createAccountOf(parts.users), others.action));
    const asked = { ...notification.condition, ...condition };
    const { expression } = asked;
    // A stored expression keeps its meaning until it is changed.
    if (expression !== notification.condition.expression) {
      parseExpression(expression, { isStrict: true });
    }
    const payer = book.index.find(id)?.payer ?? payerOf(actor);
    const draft = { condition: asked, action: action ?? notification.action };
    const mayBeRefused = condition !== undefined || action !== undefined;
    const named = mayBeRefused ? await requireRights(actor, draft) : { found: [], ...draft };
    const changes: NotificationChanges = {
      ...others,
      ...(condition !== undefined && { condition: { ...asked, bound: named.found } }),
      ...(action !== undefined && { action: named.action }),
    };
    const changed = { ...notification, ...changes, modifiedAt: clock.now() };
    const drafted = requireSound(changed, payer);
    if (condition !== undefined) await room.requirePlaces(drafted);
    const release = await room.reserve(drafted);
    try {
      if ((await store.update(id, changes, changed.modifiedAt)) === 'missing') {
        throw noNotification(id);
      }
      const { notification: stored } = await require(id);
      await book.put(stored, { payer, isWatchedAnew: condition !== undefined });
    } finally {
      release();
    }
  }

  return {
    async create(actor: Actor, draft: NotificationDraft): Promise<NotificationId> {
      const { username: owner } = requirePerson(actor);
      const now = clock.now();
      const id = parseNotificationId(createHexId());
      const action = await bound(createAccountOf(parts.users), draft.action);
      const drafted = { ...draft, action, id, owner, createdAt: now, modifiedAt: now };
      const payer = payerOf(actor);
      parseExpression(draft.condition.expression, { isStrict: true });
      requireSound(drafted, payer);
      const named = await requireRights(actor, drafted);
      const condition = { ...draft.condition, bound: named.found };
      const notification = { ...drafted, condition, action: named.action };
      const rule = await inOrder(ownerKey(owner), () => insert(notification, payer));
      if (parts.evaluateOnCreate) await evaluateNow(parts, rule);
      return id;
    },
    /** For its owner, admins, and accounts that may view all devices it names. */
    async get(actor: Actor, id: NotificationId): Promise<TalliedNotification> {
      const found = await require(id);
      if (await readable.may(actor, found.notification)) return found;
      throw forbidden('you may not view all devices of this notification');
    },
    /** Lists notifications that the actor may read, in order of creation, or newest first. */
    async list(
      actor: Actor,
      page: ListPart & { readonly owner?: string; readonly sort?: 'asc' | 'dsc' },
    ): Promise<Listing<'notifications', TalliedNotification>> {
      const { limit, offset, owner, sort } = page;
      const found = await readable.rulesOf(actor, owner);
      const rules = sort === 'dsc' ? found.toReversed() : found;
      const ids = rules.slice(offset, offset + limit).map(({ notification }) => notification.id);
      return { notifications: await store.findMany(ids), total: rules.length };
    },
    async update(actor: Actor, id: NotificationId, patch: NotificationPatch): Promise<void> {
      const { owner } = (await requireOwn(actor, id)).notification;
      await inOrder(ownerKey(owner), async () =>
        change(actor, (await require(id)).notification, patch),
      );
    },
    async remove(actor: Actor, id: NotificationId): Promise<void> {
      const { owner } = (await requireOwn(actor, id)).notification;
      await inOrder(ownerKey(owner), async () => {
        if ((await store.remove(id)) === 'missing') throw noNotification(id);
        book.remove(id);
      });
    },
    /** Lists messages with their recipients, newest first; for its owner and admins. */
    async deliveries(actor: Actor, id: NotificationId, page: ListPart) {
      await requireOwn(actor, id);
      return store.deliveries(id, page);
    },
    /** Lists what each notification lacks, to its owner and admins alone. */
    async lacks(actor: Actor, some: readonly TalliedNotification[]): Promise<readonly Lacks[]> {
      const reachOf = parts.reach();
      const found: Lacks[] = [];
      for (const { notification } of some) {
        found.push(
          isInCharge(actor, notification)
            ? { unreachable: await reachOf(notification), ...(await lacksOf(notification)) }
            : lacksNothing,
        );
      }
      return found;
    },
    /** The last evaluations, newest first; for its owner and admins. */
    async why(actor: Actor, id: NotificationId): Promise<readonly Evaluation[]> {
      await requireOwn(actor, id);
      return parts.evaluations.of(id);
    },
  };
}
export type Notifications = ReturnType<typeof createNotifications>;

async function evaluateNow({ book, notifier }: NotificationParts, rule: Rule): Promise<void> {
  for await (const some of book.devicesOf(rule)) {
    for (const device of some) {
      const sensorId = rule.triggers.find((id) => sensorOf(device, id) !== undefined);
      if (sensorId !== undefined) await notifier.evaluate(rule, device, sensorId);
    }
  }
}

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

const ownerKey = (owner: Username): string => owner.toLowerCase();
const noNotification = (id: NotificationId) => notFound(`there is no notification with id ${id}`);

/** Keeps the quotas that a rule uses: places on its sensors and devices, memory, and silences. */
function createRuleQuota(parts: {
  readonly devices: Pick<DeviceStore, 'find'>;
  readonly book: RuleBook;
  readonly budgets: Budgets;
}) {
  const { devices, book, budgets } = parts;

  /** Strangers who name a device cost its pushes: their number ends, its owner's does not. */
  async function requirePlaceOn(deviceId: DeviceId, { id, owner }: Notification): Promise<void> {
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

  /**
   * Throws limit_reached where there are as many rules as there may be: each push to a sensor
   * evaluates all its rules, of any owner.
   */
  async function requirePlaces({ triggers, notification }: Rule): Promise<void> {
    const { id, owner, condition } = notification;
    const isOwn = (other: Rule): boolean => sameUsername(other.notification.owner, owner);
    const { notificationsPerUserAndSensorMax: ownMax, notificationsPerSensorMax: allMax } = limits;
    // Without devices it counts beside those of its owner alone.
    const places = condition.devices.length === 0 ? [undefined] : condition.devices;
    for (const deviceId of condition.devices) await requirePlaceOn(deviceId, notification);
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

  /**
   * Takes the memory of a rule that goes into the book, until the answer is called: the book counts
   * it from then on. Throws limit_reached, also for silences that would not be watched.
   */
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
    return () => room.release(rule.payer, bytes);
  }

  return { requirePlaces, reserve };
}

/** The refusal of one more rule. */
export const limitReached = (sentence: string) => new DomainError('limit_reached', sentence);
