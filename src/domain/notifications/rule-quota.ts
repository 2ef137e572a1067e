import { budgetError } from '../budgets/budget.ts';
import type { Budgets } from '../budgets/budgets.ts';
import type { DeviceStore } from '../devices/device.ts';
import { DomainError } from '../errors.ts';
import { type DeviceId, sameUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Notification } from './notification.ts';
import { bytesOf, type Rule } from './rule.ts';
import type { RuleBook } from './rule-book.ts';

/** Keeps the quotas that a rule uses: places on its sensors and devices, memory, and silences. */
export function createRuleQuota(parts: {
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
