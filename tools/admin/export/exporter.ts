import type { ResourceKind } from '../../../src/domain/access/scopes.ts';
import type { VisibleTo } from '../../../src/domain/access/viewer.ts';
import {
  type Datapoint,
  orderTime,
  type SensorRef,
} from '../../../src/domain/datapoints/datapoint.ts';
import { datapointsOf } from '../../../src/domain/datapoints/datapoint-columns.ts';
import { listOfEdges } from '../../../src/domain/datapoints/growth.ts';
import { type HourTally, hoursOf } from '../../../src/domain/datapoints/retention/hours.ts';
import { hourMs, type RetentionScope } from '../../../src/domain/datapoints/retention/retention.ts';
import { listOfKinds } from '../../../src/domain/datapoints/stretches.ts';
import type { Device } from '../../../src/domain/devices/device.ts';
import type { Username } from '../../../src/domain/ids.ts';
import type { Social } from '../../../src/domain/socials/socials.ts';
import { sameJson } from '../../../src/lib/long-json.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  type ExportedDatapoint,
  type ExportedHour,
  type ExportRecord,
  exportVersion,
} from './export-format.ts';

/** Things in one page of a list. */
const pageSize = 500;
/** Datapoints in one line, and the characters of their values. */
const lineDatapointsMax = 5_000;
const lineCharactersMax = 1_048_576;
/** Hours in one line. */
const lineHoursMax = 2_048;

const everything: VisibleTo = { who: 'everything' };

/** Exports an installation, or an account's own, in the order of an import, page by page. */
export async function* exportLines(
  storage: Storage,
  account: Username | null = null,
): AsyncGenerator<ExportRecord> {
  const isWanted = (owner: Username): boolean => account === null || owner === account;
  let lines = 0;
  for await (const line of allLines(storage, isWanted, account)) {
    lines += 1;
    yield line;
  }
  yield { kind: 'end', lines };
}

type IsWanted = (owner: Username) => boolean;

async function* allLines(
  storage: Storage,
  isWanted: IsWanted,
  account: Username | null,
): AsyncGenerator<ExportRecord> {
  yield { kind: 'kipimo-export', version: exportVersion, account };
  const settings = account === null ? await storage.installation.settings() : {};
  if (Object.keys(settings).length > 0) yield { kind: 'settings', settings };
  yield* userLines(storage, isWanted);
  const owned = account === null ? {} : { owner: account };
  const groups = pages('groups', (page) => storage.groups.list({ ...owned, ...page }));
  for await (const group of groups) yield { kind: 'group', group };
  yield* deviceLines(storage, isWanted);
  yield* gatewayLines(storage, isWanted);
  yield* projectLines(storage, isWanted);
  yield* invitationLines(storage, isWanted);
  for (const { notification, tally, states } of await storage.notifications.load()) {
    if (!isWanted(notification.owner)) continue;
    yield { kind: 'notification', notification, tally, states: [...states] };
  }
  const sent = account === null ? {} : { ofUser: account };
  const socials = pages('socials', (page) => storage.socials.list({ ...sent, ...page }));
  for await (const social of socials) yield { kind: 'social', social: completed(social) };
}

async function* userLines(storage: Storage, isWanted: IsWanted): AsyncGenerator<ExportRecord> {
  const { users, credentials } = storage;
  for await (const { id, username } of pages('users', users.list)) {
    const login = isWanted(username) ? await users.findLogin(username) : undefined;
    if (login === undefined) continue;
    yield { kind: 'user', ...login };
    yield* retentionLines(storage, { kind: 'user', username });
    for await (const keys of credentials.listKeys(id)) {
      for (const key of keys) yield { kind: 'key', key };
    }
  }
}

async function* deviceLines(storage: Storage, isWanted: IsWanted): AsyncGenerator<ExportRecord> {
  const { devices } = storage;
  for (let offset = 0; ; offset += pageSize) {
    const page = { visibleTo: everything, limit: pageSize, offset };
    const heads = (await devices.list(page)).devices;
    let ids = heads.filter(({ owner }) => isWanted(owner)).map(({ id }) => id);
    while (ids.length > 0) {
      const some = await devices.readSome(ids);
      for (const device of some.devices) yield* linesOfDevice(storage, device);
      ids = ids.slice(some.taken);
    }
    if (heads.length < pageSize) return;
  }
}

async function* linesOfDevice(storage: Storage, device: Device): AsyncGenerator<ExportRecord> {
  yield { kind: 'device', device };
  yield* retentionLines(storage, { kind: 'device', deviceId: device.id });
  yield* grantLines(storage, 'device', device.id);
  for (const { id: sensorId } of device.sensors) {
    const sensor = { deviceId: device.id, sensorId };
    yield* retentionLines(storage, { kind: 'sensor', ...sensor });
    yield* valueLines(storage, sensor);
    yield* hourLines(storage, sensor);
    for (const correction of await storage.corrections.list(sensor)) {
      yield { kind: 'correction', correction };
    }
  }
}

async function* retentionLines(
  { retentions }: Storage,
  scope: RetentionScope,
): AsyncGenerator<ExportRecord> {
  const retention = await retentions.find(scope);
  if (retention !== undefined) yield { kind: 'retention', scope, retention };
}

/** Exports the tallies of hours whose values retention removed. */
async function* hourLines(storage: Storage, sensor: SensorRef): AsyncGenerator<ExportRecord> {
  const state = await storage.retaining.state(sensor);
  if (state === undefined) return;
  const { deviceId: device, sensorId } = sensor;
  const { rawBefore, openHour = null } = state;
  for (let from = Number.NEGATIVE_INFINITY; ; ) {
    const stretches = await storage.pushedDatapoints.hours(sensor, { from }, lineHoursMax);
    const hours = hoursOf(stretches);
    const exported = hours.map(asExportedHour);
    yield { kind: 'hours', device, sensor: sensorId, rawBefore, openHour, hours: exported };
    if (hours.length < lineHoursMax) return;
    from = (hours.at(-1)?.begin ?? 0) + hourMs;
  }
}

const orNull = (sum: number): number | null => (Number.isNaN(sum) ? null : sum);

const asExportedHour = (hour: HourTally): ExportedHour => [
  ...([hour.begin, hour.count, hour.numbers, hour.textNumbers, hour.min, hour.max] as const),
  orNull(hour.sum),
  ...([hour.first, hour.last, hour.rise, hour.fall] as const),
  ...listsBehind(hour),
];

function listsBehind({ kinds, edges }: HourTally) {
  const ofKinds = kinds && listOfKinds(kinds).map(orNull);
  if (edges !== undefined) return [ofKinds ?? null, listOfEdges(edges).map(orNull)] as const;
  return ofKinds === undefined ? ([] as const) : ([ofKinds] as const);
}

/** The values of a sensor as they were pushed, oldest first; its last value stands last, alone. */
async function* valueLines(storage: Storage, sensor: SensorRef): AsyncGenerator<ExportRecord> {
  const { pushedDatapoints: datapoints } = storage;
  const { deviceId: device, sensorId } = sensor;
  const line = (values: readonly ExportedDatapoint[]): ExportRecord => ({
    kind: 'values',
    device,
    sensor: sensorId,
    values,
  });
  const last = await datapoints.lastValue(sensor);
  if (last === undefined) return;
  let isHeldBack = false;
  let from: number | undefined;
  let skip = 0;
  while (true) {
    const page = { order: 'asc', skip, limit: lineDatapointsMax } as const;
    const range = from === undefined ? page : { ...page, from };
    const part = datapointsOf((await datapoints.scan(sensor, range, lineCharactersMax)).columns);
    const newest = part.at(-1);
    if (newest === undefined) break;
    const values: ExportedDatapoint[] = [];
    for (const datapoint of part) {
      if (!isHeldBack && isSame(datapoint, last)) isHeldBack = true;
      else values.push(asExported(datapoint));
    }
    if (values.length > 0) yield line(values);
    const at = orderTime(newest);
    const seen = part.filter((datapoint) => orderTime(datapoint) === at).length;
    skip = at === from ? skip + seen : seen;
    from = at;
  }
  yield line([asExported(last)]);
}

const asExported = ({ value, timestamp, receivedAt }: Datapoint): ExportedDatapoint => [
  value,
  timestamp ?? null,
  receivedAt,
];

const isSame = (one: Datapoint, other: Datapoint): boolean =>
  one.timestamp === other.timestamp &&
  one.receivedAt === other.receivedAt &&
  sameJson(one.value, other.value);

async function* gatewayLines(storage: Storage, isWanted: IsWanted): AsyncGenerator<ExportRecord> {
  const { gateways } = storage;
  const all = pages('gateways', (page) => gateways.list({ visibleTo: everything, ...page }));
  for await (const gateway of all) {
    if (!isWanted(gateway.owner)) continue;
    yield { kind: 'gateway', gateway };
    yield* grantLines(storage, 'gateway', gateway.id);
  }
}

async function* projectLines(storage: Storage, isWanted: IsWanted): AsyncGenerator<ExportRecord> {
  const { projects } = storage;
  const all = pages('projects', (page) => projects.list({ visibleTo: everything, ...page }));
  for await (const project of all) {
    if (!isWanted(project.owner)) continue;
    yield { kind: 'project', project, unshared: await projects.unshared(project.id) };
    yield* grantLines(storage, 'project', project.id);
  }
}

async function* grantLines(
  { grants }: Storage,
  kind: ResourceKind,
  resource: string,
): AsyncGenerator<ExportRecord> {
  for (const grant of await grants.listOn(kind, resource)) yield { kind: 'grant', grant };
  for (const { groupId, scopes } of await grants.listGroupsOn(kind, resource)) {
    yield { kind: 'group-grant', grant: { kind, resource, groupId, scopes } };
  }
}

/** Exports invitations that were not revoked, each giver's oldest first. */
async function* invitationLines(
  storage: Storage,
  isWanted: IsWanted,
): AsyncGenerator<ExportRecord> {
  const { users, invitations } = storage;
  for await (const { id, username } of pages('users', users.list)) {
    if (!isWanted(username)) continue;
    const page = { limit: pageSize, offset: 0 };
    for (const invitation of (await invitations.list(id, page)).invitations.toReversed()) {
      yield { kind: 'invitation', invitation, uses: await invitations.usesOf(invitation.id) };
    }
  }
}

/** Marks a pending message as failed: only the installation that was asked may send it. */
function completed(social: Social): Social {
  if (social.status !== 'pending') return social;
  return { ...social, status: 'failed', reason: 'it waited when it was exported' };
}

/** All things of a list, under their name, page by page. */
async function* pages<Name extends string, Item>(
  name: Name,
  list: (page: { readonly limit: number; readonly offset: number }) => Promise<{
    readonly [Key in Name]: readonly Item[];
  }>,
): AsyncGenerator<Item> {
  for (let offset = 0; ; offset += pageSize) {
    const items = (await list({ limit: pageSize, offset }))[name];
    yield* items;
    if (items.length < pageSize) return;
  }
}
