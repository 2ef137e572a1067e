import { createBatchBuilder } from '../../../src/domain/datapoints/column-batch.ts';
import { edgesCount, edgesOfList } from '../../../src/domain/datapoints/growth.ts';
import { type HourTally, startOfHour } from '../../../src/domain/datapoints/retention/hours.ts';
import { kindsOfList } from '../../../src/domain/datapoints/stretches.ts';
import { conflict, invalid } from '../../../src/domain/errors.ts';
import type { Group } from '../../../src/domain/groups/groups.ts';
import {
  type DeviceId,
  parseDeviceId,
  parseSensorId,
  type SensorId,
  type Username,
} from '../../../src/domain/ids.ts';
import { createSigningKey } from '../../../src/lib/secret-token.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { countLine, type ExportedHour, type ExportRecord, exportVersion } from './export-format.ts';
import { requireTakeable } from './import-checks.ts';

/** Counts of what an import took in and left out. */
export interface ImportOutcome {
  /** Lines that were taken in, by kind; datapoints one by one. */
  readonly counts: ReadonlyMap<string, number>;
  /** Grants, members and messages of people who have no account here. */
  readonly leftOut: number;
}

/**
 * Takes the lines of an export in. Throws invalid when they are none, or not all of them, and
 * conflict when something is there already: the caller works on a copy, or throws it away.
 */
export async function importLines(
  storage: Storage,
  lines: AsyncIterable<ExportRecord>,
): Promise<ImportOutcome> {
  const counts = new Map<string, number>();
  let leftOut = 0;
  let read = 0;
  let isComplete = false;
  for await (const line of lines) {
    if (read === 0) requireVersion(line);
    if (line.kind === 'end') isComplete = line.lines === read;
    read += 1;
    requireTakeable(line, read);
    leftOut += await take(storage, line);
    countLine(counts, line);
  }
  if (!isComplete) throw invalid('the export is not complete: its end is missing');
  return { counts, leftOut };
}

function requireVersion(line: ExportRecord): void {
  if (line.kind !== 'kipimo-export') throw invalid('this is no export of kipimo');
  if (!Number.isSafeInteger(line.version) || line.version < 1) {
    throw invalid(`line 1, version: ${JSON.stringify(line.version)} must be a whole number from 1`);
  }
  if (line.version > exportVersion) {
    throw invalid(`the export has version ${line.version}: it needs a newer kipimo`);
  }
}

/** Answers how much of the line was left out. */
async function take(storage: Storage, line: ExportRecord): Promise<number> {
  switch (line.kind) {
    case 'kipimo-export':
    case 'end':
      return 0;
    case 'settings':
      await storage.installation.changeSettings(line.settings);
      return 0;
    case 'user':
    case 'key':
      return takeAccount(storage, line);
    case 'device':
      refuse(await storage.devices.insert(line.device), 'device', line.device.id);
      return 0;
    case 'values':
      return takeValues(storage, line);
    case 'retention':
      return (await storage.retentions.put(line.scope, line.retention)) === 'put' ? 0 : 1;
    case 'hours':
      return takeHours(storage, line);
    case 'correction':
      return (await storage.corrections.insert(line.correction)) === 'inserted' ? 0 : 1;
    case 'gateway':
      refuse(await storage.gateways.insert(line.gateway), 'gateway', line.gateway.id);
      return 0;
    case 'project':
      return takeProject(storage, line);
    case 'group':
      return takeGroup(storage, line.group);
    case 'grant':
      return (await storage.grants.put(line.grant)) === 'put' ? 0 : 1;
    case 'group-grant':
      return (await storage.grants.putForGroup(line.grant)) === 'put' ? 0 : 1;
    case 'notification':
      return takeNotification(storage, line);
    case 'invitation':
      return (await storage.invitations.insert(line.invitation, line.uses)) === 'inserted' ? 0 : 1;
    case 'social':
      await storage.socials.insert([line.social]);
      return (await storage.socials.find(line.social.id)) === undefined ? 1 : 0;
    default:
      throw invalid(`an export has no lines of the kind ${JSON.stringify(kindOf(line))}`);
  }
}

type LineOf<Kind extends ExportRecord['kind']> = Extract<ExportRecord, { readonly kind: Kind }>;

const kindOf = (line: unknown): unknown =>
  typeof line === 'object' && line !== null && 'kind' in line ? line.kind : undefined;

async function takeAccount(storage: Storage, line: LineOf<'user' | 'key'>): Promise<number> {
  if (line.kind === 'key') {
    const outcome = await storage.credentials.insertKey(line.key);
    return outcome === 'inserted' ? 0 : 1;
  }
  // Accounts older than stored keys of webhooks have one that this installation does not know.
  const user = { webhookSecret: createSigningKey(), ...line.user };
  refuse(await storage.users.insert(user, line.passwordHash), 'user', user.username);
  return 0;
}

async function takeValues(storage: Storage, line: LineOf<'values'>): Promise<number> {
  const deviceId: DeviceId = parseDeviceId(line.device);
  const sensorId: SensorId = parseSensorId(line.sensor);
  const builder = createBatchBuilder(line.values.length);
  for (const [value, timestamp, receivedAt] of line.values) {
    builder.put(value, timestamp ?? undefined, receivedAt);
  }
  await storage.datapoints.readyForLong?.();
  const [outcome] = await storage.datapoints.append([
    { deviceId, sensorId, batch: builder.finish() },
  ]);
  if (outcome?.kind !== 'stored') throw invalid(`there are values of no sensor: ${line.sensor}`);
  return 0;
}

async function takeHours({ retaining }: Storage, line: LineOf<'hours'>): Promise<number> {
  const sensor = { deviceId: parseDeviceId(line.device), sensorId: parseSensorId(line.sensor) };
  const { rawBefore, openHour } = line;
  const state = { rawBefore, ...(openHour !== null && { openHour }) };
  const outcome = await retaining.restore(sensor, state, line.hours.map(hourFrom));
  if (outcome !== 'put') throw invalid(`there are hours of no sensor: ${line.sensor}`);
  return 0;
}

function hourFrom(exported: ExportedHour): HourTally {
  const [begin, count, numbers, textNumbers, min, max, sum, first, last, rise, fall, ...lists] =
    exported;
  const hour = { begin, count, numbers, textNumbers, min, max, first, last, rise, fall };
  const [list = null, listOfEdges] = lists;
  const kinds = list === null ? undefined : kindsOfList(list.map(numberOf));
  const edges = listOfEdges && edgesOfList(listOfEdges.map(numberOf));
  const isHour =
    Object.values(hour).every(Number.isFinite) &&
    startOfHour(begin) === begin &&
    (list === null || kinds !== undefined) &&
    (listOfEdges === undefined || listOfEdges.length === edgesCount);
  if (!isHour) throw invalid(`an hour cannot be read: ${JSON.stringify(exported)}`);
  return { ...hour, sum: sum ?? Number.NaN, ...(kinds && { kinds }), ...(edges && { edges }) };
}

const numberOf = (one: number | null): number => one ?? Number.NaN;

async function takeProject(storage: Storage, line: LineOf<'project'>): Promise<number> {
  const { project, unshared } = line;
  const { id, deviceIds, gatewayIds } = project;
  const shared = {
    ...project,
    deviceIds: deviceIds.filter((device) => !unshared.deviceIds.includes(device)),
    gatewayIds: gatewayIds.filter((gateway) => !unshared.gatewayIds.includes(gateway)),
  };
  refuse(await storage.projects.insert(shared), 'project', id);
  if (unshared.deviceIds.length + unshared.gatewayIds.length > 0) {
    await storage.projects.update(id, { deviceIds, gatewayIds }, { isOwners: false });
  }
  return 0;
}

async function takeGroup(storage: Storage, group: Group): Promise<number> {
  const outcome = await storage.groups.insert(group);
  if (outcome === 'inserted') return 0;
  const missing: readonly Username[] = outcome.missing;
  const usernames = group.usernames.filter((name) => !missing.includes(name));
  await storage.groups.insert({ ...group, usernames });
  return missing.length;
}

async function takeNotification(storage: Storage, line: LineOf<'notification'>): Promise<number> {
  const { notification, tally, states } = line;
  if ((await storage.notifications.insert(notification, tally)) !== 'inserted') return 1;
  await storage.notifications.saveStates(
    states.map(([device, state]) => ({
      notificationId: notification.id,
      deviceId: parseDeviceId(device),
      state,
    })),
  );
  return 0;
}

function refuse(outcome: 'inserted' | 'duplicate', kind: string, id: string): void {
  if (outcome === 'inserted') return;
  throw conflict(`the ${kind} ${id} is there already: import into an empty data directory`);
}
