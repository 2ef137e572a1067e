import type { JsonValue } from '../../src/lib/json.ts';
import { isRecord } from '../../src/lib/record.ts';
import { reasonOf, textField, UnreachableError } from '../client/api-client.ts';
import { remoteLimits } from './cloud-limits.ts';
import type { ResourceCopier } from './device-copier.ts';
import { listThings, pick, type Thing, textsOf } from './listing.ts';

/**
 * Makes the notifications that are not there yet: their ids are the service's to give, so what they
 * say is compared. Two that say the same stay two.
 */
export async function copyNotifications(
  copier: ResourceCopier,
  notifications: readonly Thing[],
): Promise<void> {
  const { tally } = copier;
  let missing = await missingOf(copier, notifications);
  tally.already('notifications', notifications.length - missing.length);
  let failures = 0;
  for (let next = missing[0]; next !== undefined; next = missing[0]) {
    try {
      await make(copier, next);
      missing = missing.slice(1);
      failures = 0;
    } catch (reason) {
      failures += 1;
      const isLost = reason instanceof UnreachableError && failures < remoteLimits.attemptsMax;
      if (!isLost) throw reason;
      await copier.target.pause(failures);
      // The answer was lost: it may have been made all the same.
      const left = await missingOf(copier, missing);
      tally.copied('notifications', missing.length - left.length);
      missing = left;
    }
  }
  await tellUnknown(copier, notifications);
}

/** Recipients are accounts [contract 15]: a name without one reaches nobody, also later. */
async function tellUnknown(
  { target, username, tally }: ResourceCopier,
  notifications: readonly Thing[],
): Promise<void> {
  const copied = new Set(notifications.map(meaningOf));
  for await (const page of listThings(target, '/notifications', () => undefined)) {
    for (const there of page) {
      const unknown = textsOf(there, 'unknown_usernames');
      if (unknown.length === 0 || there['owner'] !== username) continue;
      if (!copied.has(meaningOf(there))) continue;
      const names = unknown.join(', ');
      const sentence = `no account is called ${names}: it reaches nobody by that name, also later`;
      tally.noted('notifications', nameOf(there), sentence);
    }
  }
}

const nameOf = (notification: Thing): string =>
  textField(notification, 'description') ?? textField(notification, 'id') ?? '';

async function make({ target, tally }: ResourceCopier, notification: Thing): Promise<void> {
  const json = {
    ...pick(notification, ['description', 'condition', 'action', 'expires', 'throttling']),
    ...pick(notification, ['status']),
  };
  const path = '/notifications';
  const answer = await target.call({ method: 'POST', path, json, isOnce: true });
  if (answer.status < 300) return tally.copied('notifications');
  tally.skipped('notifications', nameOf(notification), reasonOf(answer));
}

async function missingOf(
  { target, username }: ResourceCopier,
  notifications: readonly Thing[],
): Promise<readonly Thing[]> {
  const there = new Map<string, number>();
  for await (const page of listThings(target, '/notifications', () => undefined)) {
    for (const notification of page.filter(({ owner }) => owner === username)) {
      const key = meaningOf(notification);
      there.set(key, (there.get(key) ?? 0) + 1);
    }
  }
  return notifications.filter((notification) => {
    const key = meaningOf(notification);
    const count = there.get(key) ?? 0;
    there.set(key, count - 1);
    return count <= 0;
  });
}

/** What a notification says, in one spelling; its status is a switch and does not count. */
function meaningOf(notification: Thing): string {
  const condition = recordOf(notification['condition']);
  const { description = null, expires = null, throttling = null } = notification;
  return inOrder({
    ...{ description, expires, throttling },
    devices: [...new Set(textsOf(condition, 'devices'))],
    sensors: [...new Set(textsOf(condition, 'sensors'))],
    expression: textField(condition, 'expression') ?? '',
    action: plainAction(recordOf(notification['action'])),
  });
}

function plainAction({ type, value, ...plain }: Thing): Thing {
  if (type === 'ActuationAction') return recordOf(value);
  const said = type === undefined && value === undefined ? plain : recordOf(value);
  return {
    usernames: [...new Set(textsOf(said, 'usernames'))],
    channels: [...new Set(textsOf(said, 'channels'))],
    message: said['message'] ?? null,
  };
}

const recordOf = (json: JsonValue | undefined): Thing => (isRecord(json) ? (json as Thing) : {});

/** JSON with the keys in one order: services write them in orders of their own. */
function inOrder(json: JsonValue): string {
  return JSON.stringify(json, (_key, value: unknown) =>
    isRecord(value) && !JSON.isRawJSON(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
