import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { Device } from '../devices/device.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { deviceResource } from '../devices/devices.ts';
import { DomainError } from '../errors.ts';
import type { DeviceId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Reporter } from '../reporter.ts';
import { notConfigured } from '../socials/social.ts';
import type { UserStore } from '../users/user-store.ts';
import type { Channel } from './channel.ts';
import type { ClaimedDelivery, Firing, FiringOutcome, NewDelivery } from './delivery.ts';
import type { Evaluation } from './evaluations.ts';
import { fillMessage, fillValue, type Variables } from './message.ts';
import type { DeviceState } from './notification.ts';
import type { NotificationStore } from './notification-store.ts';
import type { Outbox } from './outbox.ts';
import type { Rule } from './rule.ts';

/** A firing on its way, with what to undo when it does not come about. */
export interface PlannedFiring {
  readonly rule: Rule;
  readonly firing: Firing;
  readonly before: { readonly state: DeviceState; readonly lastFiredAt: number };
  readonly evaluation: Evaluation;
}

export interface FiringParts {
  readonly store: Pick<NotificationStore, 'fire'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly devices: Pick<DeviceStore, 'find'>;
  readonly access: Access;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly outbox: Pick<Outbox, 'wake' | 'deliver'>;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
}

/**
 * Whether the rule may tell of this device: its owner may view the data, and set the actuator, at
 * this moment [contract 4].
 */
export async function mayFire(
  { users, devices, access }: Pick<FiringParts, 'users' | 'devices' | 'access'>,
  { notification }: Rule,
  device: Device,
): Promise<boolean> {
  const owner = await actorOf(users, notification.owner);
  if (owner === undefined) return false;
  if (!(await access.allows(owner, 'devices-data:view', deviceResource(device)))) return false;
  const { action } = notification;
  if (action.kind === 'message') return true;
  const target = await devices.find(action.deviceId);
  // One that does not exist is told by the delivery.
  if (target === undefined) return true;
  return access.allowsSetting(owner, deviceResource(target));
}

async function actorOf(
  users: Pick<UserStore, 'findByUsername'>,
  username: Username,
): Promise<Actor | undefined> {
  const user = await users.findByUsername(username);
  if (user === undefined || user.isDisabled) return undefined;
  return { kind: user.isAdmin ? 'admin' : 'user', userId: user.id, username: user.username };
}

/** One delivery per user and channel, or one for the actuator [contract 7]. */
export function deliveriesOf(
  rule: Rule,
  variables: Variables,
  parts: { readonly now: number; readonly channels: ReadonlyMap<string, Channel> },
): readonly NewDelivery[] {
  const { action, owner } = rule.notification;
  const { now } = parts;
  if (action.kind === 'actuation') {
    const message = JSON.stringify({
      device_id: action.deviceId,
      actuator_id: action.actuatorId,
      actuator_value: fillValue(action.value, variables),
    });
    const dueAt = now + limits.deliveryLeaseMs;
    const progress = { status: 'pending', dueAt } as const;
    return [{ username: owner, channel: 'actuation', message, progress, isUnderWay: true }];
  }
  const message = fillMessage(action.message, variables);
  return action.usernames.flatMap((username) =>
    action.channels.map((channel): NewDelivery => {
      const progress = parts.channels.has(channel)
        ? ({ status: 'pending', dueAt: now } as const)
        : ({ status: 'failed', reason: notConfigured(channel) } as const);
      return { username, channel, message, progress };
    }),
  );
}

/** Stores firings and sees to what follows at once. */
export interface Fire {
  /**
   * Resolves when the pushes may be answered. Throws unavailable; what was not stored is tried
   * again here, unless the caller comes again with it.
   */
  (
    planned: readonly PlannedFiring[],
    options?: { readonly isRepeatedByCaller: boolean },
  ): Promise<void>;
  /** Tries again what could not be stored; the repetition of a push is nothing new. */
  retry(): Promise<void>;
}

export function createFire(parts: FiringParts & { readonly onGone: (rule: Rule) => void }): Fire {
  const { store, outbox, clock, reporter, log } = parts;
  let unstored: readonly PlannedFiring[] = [];

  async function keep(firings: readonly Firing[]): Promise<readonly FiringOutcome[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.fire(firings);
      } catch (error) {
        if (attempt >= limits.firingAttemptsMax) throw error;
        log.warn({ err: error, attempt }, 'firings could not be stored and are tried again');
        await new Promise((resolve) => setTimeout(resolve, limits.firingPauseMs * attempt));
      }
    }
  }

  /** Actuations are done when the push is answered [contract 6]. */
  async function actuate({ firing }: PlannedFiring, ids: readonly string[]): Promise<void> {
    for (const [index, delivery] of firing.deliveries.entries()) {
      const id = ids[index];
      if (delivery.isUnderWay !== true || id === undefined) continue;
      const { username, channel, message } = delivery;
      const claimed: ClaimedDelivery = {
        ...{ id, username, channel, message, createdAt: clock.now(), attempts: 1 },
        // An actuation reaches the owner's own device, or one that is granted: the owner pays.
        payer: username,
        source: { kind: 'notification', id: firing.notificationId },
      };
      try {
        await outbox.deliver(claimed);
      } catch (error) {
        // It is in the outbox, and comes back when its lease ends.
        log.error({ err: error, deliveryId: id }, 'an actuation could not be settled');
      }
    }
  }

  function hold(planned: readonly PlannedFiring[]): void {
    const all = [...unstored, ...planned];
    unstored = all.slice(0, limits.firingsUnstoredMax);
    for (const one of planned) one.evaluation.outcome = 'not_stored';
    const lost = all.slice(limits.firingsUnstoredMax);
    for (const one of lost) undo(one, 'not_stored');
    if (lost.length > 0)
      log.error({ firings: lost.length }, 'firings were not stored and are lost');
  }

  async function retry(): Promise<void> {
    if (unstored.length === 0) return;
    const planned = unstored;
    unstored = [];
    try {
      await follow(planned, await store.fire(planned.map(({ firing }) => firing)));
      log.info({ firings: planned.length }, 'firings that had to wait were stored');
    } catch (error) {
      hold(planned);
      log.warn({ err: error, firings: planned.length }, 'firings still cannot be stored');
    }
  }

  async function fire(
    planned: readonly PlannedFiring[],
    { isRepeatedByCaller } = { isRepeatedByCaller: false },
  ): Promise<void> {
    // In the order in which they came about, as a start after a crash looks for what is missing.
    if (unstored.length > 0) await retry();
    let outcomes: readonly FiringOutcome[];
    try {
      outcomes = await keep(planned.map(({ firing }) => firing));
    } catch (cause) {
      if (isRepeatedByCaller) for (const one of planned) undo(one, 'not_stored');
      else hold(planned);
      reporter.notificationFired('not_stored');
      log.error({ err: cause, firings: planned.length }, 'firings could not be stored');
      throw new DomainError('unavailable', 'a notification could not be stored', { cause });
    }
    await follow(planned, outcomes);
  }

  async function follow(
    planned: readonly PlannedFiring[],
    outcomes: readonly FiringOutcome[],
  ): Promise<void> {
    for (const [index, one] of planned.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) continue;
      reporter.notificationFired(outcome.kind);
      if (outcome.kind === 'fired') {
        one.evaluation.outcome = 'sent';
        await actuate(one, outcome.deliveryIds);
        continue;
      }
      undo(one, outcome.kind === 'throttled' ? 'throttled' : 'inactive');
      if (outcome.kind === 'throttled') one.rule.lastFiredAt = outcome.lastFiredAt;
      if (outcome.kind === 'gone') parts.onGone(one.rule);
    }
    outbox.wake();
  }

  return Object.assign(fire, { retry });
}

function undo(
  { rule, firing, before, evaluation }: PlannedFiring,
  outcome: Evaluation['outcome'],
): void {
  const deviceId: DeviceId = firing.deviceId;
  if (rule.states.get(deviceId) === firing.state) rule.states.set(deviceId, before.state);
  if (rule.lastFiredAt === firing.at) rule.lastFiredAt = before.lastFiredAt;
  evaluation.outcome = outcome;
}
