import type { DatabaseSync } from 'node:sqlite';
import {
  type ActuatorStep,
  actuatorAfter,
  settingFields,
} from '../../domain/devices/actuator-step.ts';
import { limits } from '../../domain/limits.ts';
import { parseJson } from '../../lib/json.ts';
import { actuatorFromRow, type PartRow, partDetails, searchColumns } from '../sql/device-row.ts';
import { applyPatch, type Patch } from '../sql/patch.ts';
import { createPartWrites } from './device-part-writes.ts';
import { createSelection } from './selection.ts';

/** A new device, ready for its rows. */
export interface DeviceInsert {
  readonly id: string;
  readonly owner: string;
  readonly visibility: string | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly details: string;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

/** Changes to a device; an absent owner or visibility stays. */
export interface DeviceUpdate {
  readonly owner?: string;
  readonly visibility?: string | null;
  readonly details: Patch;
}

interface StoredDevice {
  readonly owner: string;
  readonly visibility: string | null;
  readonly details: string;
}

const insertDevice = `
  insert into devices (id, owner, visibility, gateway_id, domain, created_at, modified_at, details)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do nothing`;
const selectDevice = 'select owner, visibility, details from devices where id = ?';
const updateDevice = `
  update devices
  set owner = ?, visibility = ?, gateway_id = ?, domain = ?, details = ?, modified_at = ?
  where id = ?`;
const touchDevice = 'update devices set modified_at = ? where id = ?';
const deleteDevice = 'delete from devices where id = ?';
const deleteGrantsOn = `delete from grants where kind = 'device' and resource = ?`;

/** What the writer thread does to devices, sensors and actuators. */
export function createDeviceWrites(database: DatabaseSync) {
  const device = createSelection<StoredDevice>(database, selectDevice);
  const insert = database.prepare(insertDevice);
  const update = database.prepare(updateDevice);
  const touch = database.prepare(touchDevice);
  const remove = database.prepare(deleteDevice);
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
    insertDevice(row: DeviceInsert): 'inserted' | 'duplicate' {
      const { gatewayId, domain } = searchColumns(row.details);
      const { changes } = insert.run(
        row.id,
        row.owner,
        row.visibility,
        gatewayId,
        domain,
        row.createdAt,
        row.modifiedAt,
        row.details,
      );
      if (changes === 0) return 'duplicate';
      for (const sensor of row.sensors) sensors.write(row.id, sensor);
      for (const actuator of row.actuators) actuators.write(row.id, actuator);
      return 'inserted';
    },
    updateDevice(id: string, changes: DeviceUpdate, at: number): 'updated' | 'missing' {
      const stored = device.first(id);
      if (stored === undefined) return 'missing';
      const details = applyPatch(stored.details, changes.details);
      const { gatewayId, domain } = searchColumns(details);
      const visibility = changes.visibility === undefined ? stored.visibility : changes.visibility;
      const owner = changes.owner ?? stored.owner;
      if (owner.toLowerCase() !== stored.owner.toLowerCase()) removeGrants.run(id);
      update.run(owner, visibility, gatewayId, domain, details, at, id);
      return 'updated';
    },
    removeDevice(id: string): 'removed' | 'missing' {
      removeGrants.run(id);
      return remove.run(id).changes === 0 ? 'missing' : 'removed';
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
