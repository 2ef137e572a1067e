import type { Scope } from '../src/domain/access/scopes.ts';
import type { NotificationId } from '../src/domain/ids.ts';
import type { Notification } from '../src/domain/notifications/notification.ts';
import { hashPassword } from '../src/lib/password-hash.ts';
import type { Storage } from '../src/storage/storage.ts';
import {
  aDevice,
  aGateway,
  aGroup,
  anActuator,
  aProject,
  aSensor,
  aSocial,
  aUser,
  deviceId,
  noon,
  sensorId,
  username,
} from '../test/contract/storage/builders.ts';

export const growthPassword = 'a password for growth';

/** Accounts that ask: what each has is the same in all installations, but for what half owns. */
export const askers = ['ten', 'granted', 'member', 'half'] as const;

const view: readonly Scope[] = ['devices:view', 'devices-data:view'];
const atOnce = 500;

/** Awaits changes, several in each commit. */
async function inBatches<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) {
    await Promise.all(items.slice(at, at + atOnce).map(work));
  }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

function ruleOf(n: number, owner: string, device: string): Notification {
  return {
    id: `rule${n}` as NotificationId,
    owner: username(owner),
    ...{ createdAt: noon, modifiedAt: noon, actionSpelling: 'plain', status: 'active' },
    condition: {
      devices: [deviceId(device)],
      sensors: [sensorId('s')],
      expression: 's>40',
      bound: [{ id: deviceId(device), createdAt: noon }],
    },
    action: { kind: 'message', usernames: [owner], channels: ['email'], message: 'hot' },
  };
}

/**
 * What an installation of so many devices has: all but what `askers` are given grows. Each device
 * has a sensor, or as many as are asked for.
 */
export async function fillInstallation(storage: Storage, size: number, each = 1): Promise<void> {
  const others = Math.ceil(size / 10);
  const hash = await hashPassword(growthPassword, { memoryKibibytes: 8, passes: 1 });
  const names = [...askers, ...numbers(others).map((n) => `u${n}`)];
  await inBatches(names, (name) => storage.users.insert(aUser(name), hash));
  const sensors = numbers(each).map((n) => aSensor(n === 0 ? 's' : `s${n}`));
  const part = { sensors, actuators: [anActuator('a')] };
  const ownDevice = (n: number) =>
    aDevice(`t${n}`, {
      ...{ owner: username('ten'), domain: `of-ten-${n % 2}`, ...part },
      ...(n % 2 === 0 && { visibility: 'private' as const }),
    });
  const every = Math.floor(size / 10);
  const devices = numbers(size).flatMap((n) => {
    const device = aDevice(`d${n}`, {
      ...{ owner: username(n % 2 === 0 ? 'half' : `u${n % others}`), name: `device ${n}`, ...part },
      ...(n % 4 >= 2 && { visibility: 'private' as const }),
    });
    return n % every === 0 && n / every < 10 ? [device, ownDevice(n / every)] : [device];
  });
  await inBatches(devices, (device) => storage.devices.insert(device));
  await inBatches(numbers(others), (n) =>
    storage.gateways.insert(aGateway(`g${n}`, { owner: username(`u${n}`) })),
  );
  const projects = numbers(Math.ceil(size / 100)).map((n) =>
    aProject(`p${n}`, {
      owner: username('half'),
      deviceIds: numbers(10).map((one) => deviceId(`d${2 * ((n * 10 + one) % (size / 2))}`)),
    }),
  );
  projects.push(
    aProject('own', { owner: username('ten'), deviceIds: [deviceId('t0'), deviceId('t2')] }),
  );
  await inBatches(projects, (project) => storage.projects.insert(project));
  const group = aGroup('class', { owner: username('ten'), usernames: [username('member')] });
  await storage.groups.insert(group);
  const kind = 'device';
  const putGroup = (resource: string) =>
    storage.grants.putForGroup({ ...{ kind, resource, groupId: group.id, scopes: view } });
  await inBatches(['t0', 't2', 't4'], putGroup);
  // Private ones, from the whole of the installation.
  const granted = numbers(60).map((n) => `d${4 * Math.floor((n * size) / 60 / 4) + 2}`);
  await inBatches(granted, (resource) =>
    storage.grants.put({ kind, resource, username: username('granted'), scopes: view }),
  );
  // To others, from those with much.
  await inBatches(numbers(others), (n) =>
    storage.grants.put({ kind, resource: `d${2 * n}`, username: username(`u${n}`), scopes: view }),
  );
  // Of strangers; enough for a page in both.
  const rules = Math.max(100, others);
  await inBatches(numbers(rules), (n) =>
    storage.notifications.insert(ruleOf(n, `u${n % others}`, `d${n}`)),
  );
  await inBatches(numbers(3), (n) =>
    storage.notifications.insert(ruleOf(rules + n, 'ten', `t${n}`)),
  );
  await inBatches(numbers(others), (n) =>
    storage.socials.insert([aSocial(`s${n}`, { sender: `u${n}`, recipient: 'half' })]),
  );
}
