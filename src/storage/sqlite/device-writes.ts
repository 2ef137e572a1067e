import type { DatabaseSync } from 'node:sqlite';
import {
  type ActuatorStep,
  actuatorAfter,
  settingFields,
} from '../../domain/devices/actuator-step.ts';
import { limits } from '../../domain/limits.ts';
import { parseJson } from '../../lib/json.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceColumns,
  type PartRow,
  partDetails,
  searchColumns,
} from '../sql/device-row.ts';
import { applyPatch, type ResourcePatch } from '../sql/patch.ts';
import { createPartWrites } from './device-part-writes.ts';
import { createSelection, insertInto } from './selection.ts';

/** A new device, ready for its rows. */
export interface DeviceInsert {
  readonly row: DeviceRow;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

type StoredDevice = Pick<DeviceRow, 'owner' | 'visibility' | 'details'>;

const insertDevice = `
  ${insertInto('devices', `${deviceColumns}, gateway_id, domain`)} on conflict do nothing`;
const selectDevice = 'select owner, visibility, details from devices where id = ?';
const updateDevice = `
  update devices
  set owner = :owner, visibility = :visibility, gateway_id = :gateway_id, domain = :domain,
    details = :details, modified_at = :modified_at
  where id = :id`;
const touchDevice = 'update devices set modified_at = ? where id = ?';
const addStrangers = `
  update devices set stranger_bytes = max(0, stranger_bytes + ?) where id = ?`;
const deleteDevice = 'delete from devices where id = ?';
const deleteGrantsOn = `delete from grants where kind = 'device' and resource = ?`;

/** The changes that the writer thread makes to devices, sensors and actuators. */
export function createDeviceWrites(database: DatabaseSync) {
  const device = createSelection<StoredDevice>(database, selectDevice);
  const insert = database.prepare(insertDevice);
  const update = database.prepare(updateDevice);
  const touch = database.prepare(touchDevice);
  const remove = database.prepare(deleteDevice);
  const strangers = database.prepare(addStrangers);
  const removeGrants = database.prepare(deleteGrantsOn);
  const markModified = (id: string, at: number): void => {
    touch.run(at, id);
  };
  const sensors = createPartWrites(database, {
    table: 'sensors',
    key: 'sensor_id',
    countMax: limits.sensorsPerDeviceMax,
    markModified,
  });
  const actuators = createPartWrites(database, {
    table: 'actuators',
    key: 'actuator_id',
    keeps: settingFields,
    countMax: limits.sensorsPerDeviceMax,
    markModified,
  });

  return {
    insertDevice({ row, ...parts }: DeviceInsert): 'inserted' | 'duplicate' {
      const { changes } = insert.run({ ...row, ...searchColumns(row.details) });
      if (changes === 0) return 'duplicate';
      for (const sensor of parts.sensors) sensors.write(row.id, sensor);
      for (const actuator of parts.actuators) actuators.write(row.id, actuator);
      return 'inserted';
    },
    updateDevice(id: string, changes: ResourcePatch, at: number): 'updated' | 'missing' {
      const stored = device.first(id);
      if (stored === undefined) return 'missing';
      const details = applyPatch(stored.details, changes.details);
      const visibility = changes.visibility === undefined ? stored.visibility : changes.visibility;
      const owner = changes.owner ?? stored.owner;
      if (owner.toLowerCase() !== stored.owner.toLowerCase()) removeGrants.run(id);
      const columns = { id, owner, visibility, details, modified_at: at };
      update.run({ ...columns, ...searchColumns(details) });
      return 'updated';
    },
    removeDevice(id: string): 'removed' | 'missing' {
      removeGrants.run(id);
      return remove.run(id).changes === 0 ? 'missing' : 'removed';
    },
    addStrangerBytes(added: readonly (readonly [id: string, bytes: number])[]): void {
      for (const [id, bytes] of added) strangers.run(bytes, id);
    },
    putSensor: sensors.put,
    updateSensor: sensors.update,
    removeSensor: sensors.remove,
    putActuator: actuators.put,
    updateActuator: actuators.update,
    /** The step as JSON text, as its value may have digits that no double holds. */
    stepActuator(deviceId: string, actuatorId: string, stepText: string) {
      // Written from a step by the other side of the thread.
      const step = parseJson(stepText) as ActuatorStep;
      const replacement = (details: string): string | undefined => {
        const after = actuatorAfter(actuatorFromRow({ id: actuatorId, details }), step);
        return after && partDetails(after);
      };
      const at = step.kind === 'confirm' ? undefined : step.at;
      return actuators.replace(deviceId, actuatorId, replacement, at);
    },
    removeActuator: actuators.remove,
  };
}
