import type { VisibleTo } from '../../domain/access/viewer.ts';
import type { TimedSetting } from '../../domain/devices/actuator.ts';
import type {
  Device,
  DeviceHead,
  DevicePart,
  DeviceStore,
  Visibility,
} from '../../domain/devices/device.ts';
import type { DeviceId, SensorId, Username } from '../../domain/ids.ts';
import type { DamagedRows } from '../faults.ts';
import {
  actuatorFromRow,
  type DeviceRows,
  deviceTable,
  deviceToRow,
  type PartRow,
  partDetails,
  sensorFromRow,
} from './device-row.ts';
import type { deviceWrites } from './device-writes.ts';
import { patchOf, resourcePatchOf } from './patch.ts';
import { countingOwned, firstPosition, listing, visibleAmong } from './resources.ts';
import {
  allOf,
  type Condition,
  numbered,
  type SqlContext,
  type SqlReader,
  type Value,
} from './session.ts';
import { createStoredBytes, type StoredDatapoints } from './stored-bytes.ts';

// A few more, such as those with the word in their meta: they are checked one by one.
const selectTimed = `
  select device_id, actuator_id as id, details from actuators where details like '%"revert":%'`;
const selectExisting = `
  select exists (select 1 from devices where id = value)
    and (value2 is null
      or (value, value2) in (select device_id, sensor_id from sensors
        where device_id in (select value from each($1))))
    and (value3 is null
      or exists (select 1 from actuators where device_id = value and actuator_id = value3))
    as found
  from each($1, $2, $3) order by given.key`;

/** The parts of the store that differ by engine. */
export interface DeviceStoreOptions {
  readonly limits: SliceLimits;
  readonly load: LoadDevices;
  readonly datapoints: StoredDatapoints;
  /** Called for what was removed. */
  readonly forget: (id: DeviceId, sensorId?: SensorId) => void;
}

/** Devices in the tables of either engine. */
export function createDeviceStore(
  { reader, write, damaged }: SqlContext<typeof deviceWrites>,
  { limits, load, datapoints, forget }: DeviceStoreOptions,
): DeviceStore {
  const countOwned = countingOwned(reader, 'device');
  return {
    insert: (device) => write('insertDevice', rowsOf(device)),
    ...createDeviceReading({ load, damaged, limits }),
    ...createDeviceListing({ reader, sliceMax: limits.listPartsPerSlice }),
    ...createStoredBytes(reader, datapoints),
    async existing(parts) {
      const rows = await reader.all<{ found: boolean | number }>(
        selectExisting,
        ...columnsOf(parts),
      );
      return rows.map((row) => Boolean(row.found));
    },
    countOwnedBy: async (owner) => (await countOwned([owner]))[0] ?? 0,
    countOwnedByEach: countOwned,
    addStrangerBytes: (added) => write('addStrangerBytes', [...added.keys()], [...added.values()]),
    update: (id, changes, at) => write('updateDevice', id, resourcePatchOf(changes), at),
    async remove(id) {
      const outcome = await write('removeDevice', id);
      if (outcome === 'removed') forget(id);
      return outcome;
    },
    putSensor: (id, sensor, at) => write('putSensor', id, partRow(sensor), at),
    updateSensor: (id, sensorId, changes, at) =>
      write('updateSensor', id, sensorId, patchOf(changes), at),
    async removeSensor(id, sensorId, at) {
      const outcome = await write('removeSensor', id, sensorId, at);
      if (outcome === 'removed') forget(id, sensorId);
      return outcome;
    },
    putActuator: (id, actuator, at) => write('putActuator', id, partRow(actuator), at),
    updateActuator: (id, actuatorId, changes, at) =>
      write('updateActuator', id, actuatorId, patchOf(changes), at),
    async stepActuator(id, actuatorId, step) {
      const after = await write('stepActuator', id, actuatorId, JSON.stringify(step));
      if (typeof after === 'string') return after;
      return actuatorFromRow({ id: actuatorId, details: after.details });
    },
    async listTimedSettings() {
      const rows = await reader.all<TimedRow>(selectTimed);
      return rows.flatMap((row) => {
        const key = `${row.device_id} ${row.id}`;
        return damaged.read('actuators', key, () => timedSettingOf(row)) ?? [];
      });
    },
    removeActuator: (id, actuatorId, at) => write('removeActuator', id, actuatorId, at),
  };
}

const columnsOf = (parts: readonly DevicePart[]): readonly Value[] => [
  parts.map(({ deviceId }) => deviceId),
  parts.map(({ sensorId }) => sensorId ?? null),
  parts.map(({ actuatorId }) => actuatorId ?? null),
];

interface TimedRow extends PartRow {
  readonly device_id: string;
}

function timedSettingOf({ device_id, id, details }: TimedRow): readonly TimedSetting[] {
  const actuator = actuatorFromRow({ id, details });
  if (actuator.revert === undefined) return [];
  // The row was written from parsed ids.
  return [{ deviceId: device_id as DeviceId, actuatorId: actuator.id, at: actuator.revert.at }];
}

function rowsOf(device: Device): DeviceRows {
  return {
    row: deviceToRow(device),
    sensors: device.sensors.map(partRow),
    actuators: device.actuators.map(partRow),
  };
}

function partRow(part: Device['sensors'][number] | Device['actuators'][number]): PartRow {
  return { id: part.id, details: partDetails(part) };
}

/** How much of a list is read before others run. */
interface SliceLimits {
  /** Devices that one statement reads. */
  readonly listDevicesPerRead: number;
  readonly listPartsPerSlice: number;
  readonly listCharactersPerSlice: number;
  readonly listMsPerSlice: number;
}

/** Reads those that exist, in the order asked for, each as of one commit; awaits nothing else. */
export type LoadDevices = (ids: readonly string[]) => Promise<Iterable<DeviceRows>>;

/** Reads devices with their parts, of what the engine loads. */
function createDeviceReading(options: {
  readonly load: LoadDevices;
  readonly damaged: DamagedRows;
  readonly limits: SliceLimits;
}): Pick<DeviceStore, 'find' | 'readSome'> {
  const { load, damaged, limits } = options;
  function readable<Part>(
    table: string,
    deviceId: string,
    rows: readonly PartRow[],
    read: (row: PartRow) => Part,
  ): readonly Part[] {
    const parts: Part[] = [];
    for (const row of rows) {
      try {
        parts.push(read(row));
      } catch (reason) {
        damaged.note(table, `${deviceId} ${row.id}`, reason);
      }
    }
    return parts;
  }

  function deviceOf({ row, sensors, actuators }: DeviceRows): Device | undefined {
    const parts = {
      sensors: readable('sensors', row.id, sensors, sensorFromRow),
      actuators: readable('actuators', row.id, actuators, actuatorFromRow),
    };
    return damaged.read('devices', row.id, () => ({
      ...deviceTable.fromRow(row),
      ...parts,
    }));
  }

  return {
    async find(id) {
      const [rows] = await load([id]);
      return rows && deviceOf(rows);
    },
    async readSome(ids) {
      const startedAt = performance.now();
      const devices: Device[] = [];
      let [taken, parts, characters] = [0, 0, 0];
      while (taken < ids.length) {
        const some = ids.slice(taken, taken + limits.listDevicesPerRead);
        for (const rows of await load(some)) {
          const device = deviceOf(rows);
          if (device === undefined) continue;
          devices.push(device);
          parts += 1 + device.sensors.length + device.actuators.length;
          characters += charactersOf(rows);
          const isFull =
            parts >= limits.listPartsPerSlice || characters >= limits.listCharactersPerSlice;
          if (isFull) return { devices, taken: taken + some.indexOf(device.id) + 1 };
        }
        taken += some.length;
        if (performance.now() - startedAt > limits.listMsPerSlice) break;
      }
      return { devices, taken };
    },
  };
}

/** The weight of a description, in characters of JSON text. */
function charactersOf({ row, sensors, actuators }: DeviceRows): number {
  let characters = row.details.length;
  for (const { details } of sensors) characters += details.length;
  for (const { details } of actuators) characters += details.length;
  return characters;
}

interface HeadRow {
  readonly id: DeviceId;
  readonly owner: Username;
  readonly visibility: Visibility | null;
  readonly created_at: number;
}

/** A device of a search: with its place in the order of creation, and whom lists show it. */
interface FoundRow extends HeadRow {
  readonly position: number;
  readonly listed: string;
}

const headColumns = 'id, owner, visibility, created_at, listed';

/** Lists of devices; candidates of a search come in slices of `sliceMax`. */
function createDeviceListing(options: {
  readonly reader: SqlReader;
  readonly sliceMax: number;
}): Pick<DeviceStore, 'list' | 'candidates'> {
  const { reader, sliceMax } = options;
  const list = listing<FoundRow>(reader, 'device', headColumns);

  /** Those of a domain or gateway, or of these ids, as far as they are shown. */
  async function narrowed(
    { only, who }: VisibleTo,
    conditions: readonly Condition[],
    after: number,
  ): Promise<{ readonly rows: readonly FoundRow[]; readonly shown: readonly FoundRow[] }> {
    const { sql, values } = allOf([...conditions, { sql: 'position > ?', values: [after] }]);
    const select = `
      select position, ${headColumns} from devices where ${sql} order by position limit ?`;
    const rows = await reader.all<FoundRow>(numbered(select), ...values, sliceMax);
    if (only !== undefined || who === 'everything') return { rows, shown: rows };
    const isShown = ({ id, listed }: FoundRow): boolean =>
      listed === '' ||
      (who !== 'public' && (listed === who.username.toLowerCase() || who.reached.has(id)));
    return { rows, shown: rows.filter(isShown) };
  }

  return {
    async list(page) {
      const { rows, total } = await list.page(page);
      return { devices: rows.map(headOf), total };
    },
    async candidates({ visibleTo, equals, after = firstPosition }) {
      const owner = equals.get('owner');
      const isRange = visibleTo.only === undefined && equals.size === Number(owner !== undefined);
      const narrowing = isRange ? [] : conditionsOf(equals);
      if (visibleTo.only !== undefined) narrowing.push(...visibleAmong('device', visibleTo));
      const shown = owner === undefined ? { visibleTo } : { visibleTo, owner };
      const found = isRange
        ? await list.next(shown, after, sliceMax).then((rows) => ({ rows, shown: rows }))
        : await narrowed(visibleTo, narrowing, after);
      const last = found.rows.length === sliceMax ? found.rows.at(-1) : undefined;
      return { devices: found.shown.map(headOf), next: last?.position };
    },
  };
}

const headOf = ({ id, owner, visibility, created_at: createdAt }: HeadRow): DeviceHead =>
  visibility === null ? { id, owner, createdAt } : { id, owner, visibility, createdAt };

// Fields that have a column; a column may find too much, never too little.
const conditionOf = new Map([
  ['owner', 'nocase(owner) = nocase(?)'],
  ['gateway_id', 'gateway_id = ?'],
  ['domain', 'domain = ?'],
]);

function conditionsOf(equals: ReadonlyMap<string, string>): Condition[] {
  return [...equals].flatMap(([field, text]) => {
    const sql = conditionOf.get(field);
    return sql === undefined ? [] : [{ sql, values: [text] }];
  });
}
