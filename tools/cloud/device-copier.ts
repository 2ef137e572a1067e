import type { JsonValue } from '../../src/lib/json.ts';
import { type ApiClient, reasonOf, textField } from '../client/api-client.ts';
import { partsOf, pick, type Thing } from './listing.ts';
import type { Kind, Tally } from './tally.ts';

/** Who acts at the target, and for whom things are made there. */
export interface ResourceCopier {
  readonly target: ApiClient;
  readonly tally: Tally;
  /** Of the target; undefined for the guest. */
  readonly username: string | undefined;
  readonly isAdmin: boolean;
  /** At the source: what is theirs becomes the copier's own. */
  readonly sourceUsername: string | undefined;
}

const deviceFields = ['id', 'name', 'gateway_id', 'domain', 'visibility', 'location', 'meta'];
const sensorFields = [
  ...['id', 'name', 'sensing_device', 'sensor_kind', 'quantity_kind', 'unit', 'measures'],
];
const actuatorFields = ['id', 'name', 'actuator_kind', 'actuator_value_type', 'value_type'];
const gatewayFields = ['id', 'name', 'visibility', 'location'];

const sensorOf = (sensor: Thing): Thing => pick(sensor, [...sensorFields, 'calib', 'meta']);
const actuatorOf = (actuator: Thing): Thing => pick(actuator, [...actuatorFields, 'value', 'meta']);

const isTaken = (status: number): boolean => status === 409 || status === 422;
const isInvalid = (status: number): boolean => status === 400 || status === 413;

/** Makes the gateway unless it is there. */
export async function copyGateway(copier: ResourceCopier, gateway: Thing): Promise<void> {
  const { tally } = copier;
  const id = textField(gateway, 'id') ?? '';
  const isAnonymous = isGuests(gateway);
  if (wouldBeShown(copier, gateway)) return tally.skipped('gateways', id, privateForGuests);
  const make = (json: Thing) =>
    copier.target.call({ method: 'POST', path: '/gateways', json, isAnonymous });
  let answer = await make(pick(gateway, gatewayFields));
  // What the target does not understand is dropped, the visibility never.
  if (isInvalid(answer.status)) answer = await make(pick(gateway, ['id', 'visibility']));
  if (isTaken(answer.status)) tally.already('gateways');
  else if (answer.status >= 300) return tally.skipped('gateways', id, reasonOf(answer));
  else tally.copied('gateways');
  await handOver(copier, `/gateways/${encodeURIComponent(id)}`, gateway);
}

/**
 * Makes the device with its sensors and actuators, or what is missing of them. Answers the ids of
 * the sensors that are there now.
 */
export async function copyDevice(
  copier: ResourceCopier,
  device: Thing,
): Promise<readonly string[]> {
  const { target, tally } = copier;
  const id = textField(device, 'id') ?? '';
  const path = `/devices/${encodeURIComponent(id)}`;
  const sensors = partsOf(device, 'sensors');
  const actuators = partsOf(device, 'actuators');
  const isAnonymous = isGuests(device);
  if (wouldBeShown(copier, device)) {
    tally.skipped('devices', id, privateForGuests);
    return [];
  }
  const make = (json: unknown) =>
    target.call({ method: 'POST', path: '/devices', json, isAnonymous });

  const whole = {
    ...pick(device, [...deviceFields, 'deployed', 'timezone']),
    sensors: sensors.map(sensorOf),
    actuators: actuators.map(actuatorOf),
  };
  let answer = await make(whole);
  if (answer.status < 300) {
    tally.copied('devices');
    tally.copied('sensors', sensors.length);
    tally.copied('actuators', actuators.length);
    await handOver(copier, path, device);
    return sensors.map((sensor) => textField(sensor, 'id') ?? '');
  }
  // Something in it is not understood: part by part, so that only that part is missing.
  if (isInvalid(answer.status))
    answer = await make(pick(device, [...deviceFields, 'deployed', 'timezone']));
  if (isInvalid(answer.status)) answer = await make(pick(device, ['id', 'visibility']));
  if (isTaken(answer.status)) tally.already('devices');
  else if (answer.status >= 300) {
    tally.skipped('devices', id, reasonOf(answer));
    return [];
  } else tally.copied('devices');
  const owners = [device['owner'], copier.username ?? 'guest'];
  const copied = await completeDevice(copier, { path, id, owners, sensors, actuators });
  if (copied.length > 0 || sensors.length === 0) await handOver(copier, path, device);
  return copied;
}

async function completeDevice(
  copier: ResourceCopier,
  device: {
    readonly path: string;
    readonly id: string;
    /** Who may have it there; in a device of anybody else the values would mix with theirs. */
    readonly owners: readonly (JsonValue | undefined)[];
    readonly sensors: readonly Thing[];
    readonly actuators: readonly Thing[];
  },
): Promise<readonly string[]> {
  const { target, tally } = copier;
  const { path, id } = device;
  const found = await target.call({ method: 'GET', path });
  if (found.status !== 200) {
    tally.skipped('devices', id, `it is there, and may not be seen: ${reasonOf(found)}`);
    return [];
  }
  const there = found.json as Thing;
  if (!device.owners.includes(there['owner'])) {
    tally.skipped('devices', id, `it is there, and belongs to ${textField(there, 'owner')}`);
    return [];
  }
  const copied: string[] = [];
  const known = (kind: Kind): ReadonlySet<string> =>
    new Set(partsOf(there, kind).map((part) => textField(part, 'id') ?? ''));
  async function complete(kind: Kind, parts: readonly Thing[], partOf: (part: Thing) => Thing) {
    const before = known(kind);
    for (const part of parts) {
      const partId = textField(part, 'id') ?? '';
      if (before.has(partId)) tally.already(kind);
      else if (!(await addPart(copier, { path, kind, id, partId, part: partOf(part) }))) continue;
      copied.push(...(kind === 'sensors' ? [partId] : []));
    }
  }
  await complete('sensors', device.sensors, sensorOf);
  await complete('actuators', device.actuators, actuatorOf);
  return copied;
}

async function addPart(
  { target, tally }: ResourceCopier,
  what: {
    readonly path: string;
    readonly kind: Kind;
    readonly id: string;
    readonly partId: string;
    readonly part: Thing;
  },
): Promise<boolean> {
  const { kind, part, partId } = what;
  const name = `${what.id}/${partId}`;
  const path = `${what.path}/${kind}`;
  const answer = await target.call({ method: 'POST', path, json: part });
  if (answer.status < 300) {
    tally.copied(kind);
    return true;
  }
  // Its values are worth more than its description.
  const bare = isInvalid(answer.status)
    ? await target.call({ method: 'POST', path, json: { id: partId } })
    : answer;
  tally.skipped(kind, name, reasonOf(answer));
  return bare.status < 300;
}

const privateForGuests = 'it is private, and what a guest makes is public: give --to-user';

/** Whether the copy would show to all what is private [spec 5.5]. */
const wouldBeShown = ({ username }: ResourceCopier, thing: Thing): boolean =>
  username === undefined && thing['visibility'] === 'private';

const isGuests = (thing: Thing): boolean =>
  thing['owner'] === 'guest' && thing['visibility'] !== 'private';

/** Gives a thing of somebody else's to its owner, where an admin copies and the owner is there. */
async function handOver(copier: ResourceCopier, path: string, thing: Thing): Promise<void> {
  const { target, tally, username, isAdmin, sourceUsername } = copier;
  const owner: JsonValue | undefined = thing['owner'];
  if (typeof owner !== 'string' || owner === 'guest' || owner === sourceUsername) return;
  if (!isAdmin) return tally.adopted();
  const { json } = await target.call({ method: 'GET', path });
  if ((json as Thing | undefined)?.['owner'] !== username) return;
  if (owner === username) return;
  const answer = await target.call({ method: 'PUT', path: `${path}/owner`, json: owner });
  if (answer.status >= 300) tally.adopted();
}
