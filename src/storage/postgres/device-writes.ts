import { type ActuatorStep, actuatorAfter } from '../../domain/devices/actuator-step.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceColumns,
  type PartRow,
  partDetails,
  searchColumns,
} from '../sql/device-row.ts';
import { applyPatch, type ResourcePatch } from '../sql/patch.ts';
import { insertRow, type SqlSession } from '../sql/session.ts';
import { bucketOf } from './bucket.ts';
import { actuators, sensors } from './device-part-writes.ts';

/** A new device, ready for its rows. */
export interface DeviceInsert {
  readonly row: DeviceRow;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

type StoredDevice = Pick<DeviceRow, 'owner' | 'visibility' | 'details'>;

const selectDevice = 'select owner, visibility, details from devices where id = $1';
const changeDevice = `
  update devices
  set owner = $1, visibility = $2, gateway_id = $3, domain = $4, details = $5, modified_at = $6
  where id = $7`;
const deleteHot = `
  delete from hot using sensors where sensors.bucket = hot.bucket and sensors.series = hot.series
    and device_id = $1`;
const deleteDevice = 'delete from devices where id = $1';
const deleteGrantsOn = ['grants', 'group_grants'].map(
  (table) => `delete from ${table} where kind = 'device' and resource = $1`,
);

export async function insertDevice(
  session: SqlSession,
  { row, ...parts }: DeviceInsert,
): Promise<'inserted' | 'duplicate'> {
  const bucket = bucketOf(row.id);
  const columns = `${deviceColumns}, gateway_id, domain, bucket`;
  const values = { ...row, ...searchColumns(row.details), bucket };
  const made = await insertRow(session, 'devices', columns, values, 'on conflict do nothing');
  if (made === 0) return 'duplicate';
  await sensors.insertAll(session, row.id, parts.sensors);
  await actuators.insertAll(session, row.id, parts.actuators);
  return 'inserted';
}

export async function updateDevice(
  session: SqlSession,
  id: string,
  changes: ResourcePatch,
  at: number,
): Promise<'updated' | 'missing'> {
  const stored = await session.first<StoredDevice>(selectDevice, id);
  if (stored === undefined) return 'missing';
  const details = applyPatch(stored.details, changes.details);
  const visibility = changes.visibility === undefined ? stored.visibility : changes.visibility;
  const owner = changes.owner ?? stored.owner;
  if (owner.toLowerCase() !== stored.owner.toLowerCase()) {
    for (const part of deleteGrantsOn) await session.run(part, id);
  }
  const { gateway_id, domain } = searchColumns(details);
  await session.run(changeDevice, owner, visibility, gateway_id, domain, details, at, id);
  return 'updated';
}

const addStrangers = `
  update devices set stranger_bytes = greatest(0, stranger_bytes + added)
  from unnest($1::text[], $2::bigint[]) as given (device, added) where id = device`;

export async function addStrangerBytes(
  session: SqlSession,
  added: ReadonlyMap<string, number>,
): Promise<void> {
  await session.run(addStrangers, [...added.keys()], [...added.values()]);
}

export async function removeDevice(
  session: SqlSession,
  id: string,
): Promise<'removed' | 'missing'> {
  for (const part of [...deleteGrantsOn, deleteHot]) await session.run(part, id);
  return (await session.run(deleteDevice, id)) === 0 ? 'missing' : 'removed';
}

export function stepActuator(
  session: SqlSession,
  deviceId: string,
  actuatorId: string,
  step: ActuatorStep,
) {
  const replacement = (details: string): string | undefined => {
    const after = actuatorAfter(actuatorFromRow({ id: actuatorId, details }), step);
    return after && partDetails(after);
  };
  const at = step.kind === 'confirm' ? undefined : step.at;
  return actuators.replace(session, deviceId, actuatorId, replacement, at);
}
