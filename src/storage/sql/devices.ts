import type { TimedSetting } from '../../domain/devices/actuator.ts';
import type {
  Device,
  DeviceHead,
  DevicePart,
  DeviceStore,
  Visibility,
} from '../../domain/devices/device.ts';
import type { DeviceId, SensorId, Username } from '../../domain/ids.ts';
import { ownPace } from '../../lib/scheduling/fair-slices.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceTable,
  deviceToRow,
  type PartRow,
  partDetails,
  sensorFromRow,
} from './device-row.ts';
import type { DeviceInsert, deviceWrites } from './device-writes.ts';
import { patchOf, resourcePatchOf } from './patch.ts';
import {
  allOf,
  type Condition,
  countingOwned,
  firstPosition,
  lastPosition,
  listing,
  numbered,
  slicesOf,
  visibleRows,
} from './resources.ts';
import type { Count, SqlContext, SqlReader, Value } from './session.ts';
import { createStoredBytes, type StoredDatapoints } from './stored-bytes.ts';

// A few more, such as those with the word in their meta: they are checked one by one.
const selectTimed = `
  select device_id, actuator_id as id, details from actuators where details like '%"revert":%'`;
const selectExisting = `
  select exists (select 1 from devices where id = value)
    and (value2 is null
      or exists (select 1 from sensors where device_id = value and sensor_id = value2))
    and (value3 is null
      or exists (select 1 from actuators where device_id = value and actuator_id = value3))
    as found
  from each($1, $2, $3) order by given.key`;
const countOfEachIn = (positions: string): string => `
  select (select count(*) from devices where nocase(owner) = nocase(value)${positions}) as n
  from each($1) order by given.key`;
const countOfEach = countOfEachIn('');
const countOfEachBetween = countOfEachIn(' and position > $2 and position <= $3');
/** Positions that one statement counts: some two milliseconds. */
const countedPerSlice = 50_000;

/** The parts of the store that differ by engine. */
export interface DeviceStoreOptions {
  readonly limits: SliceLimits;
  readonly load: LoadDevices;
  readonly datapoints: StoredDatapoints;
  /** Called for what was removed. */
  readonly forget: (id: DeviceId, sensorId?: SensorId) => void;
}

/** Counts the devices of each owner, in slices where a statement holds others up. */
export async function countOfOwners(
  reader: SqlReader,
  owners: readonly Username[],
): Promise<readonly number[]> {
  if (reader.turns === undefined) {
    return (await reader.all<Count>(countOfEach, owners)).map(({ n }) => n);
  }
  const counts = owners.map(() => 0);
  const last = await lastPosition(reader, 'devices');
  const pace = ownPace();
  for (let after = firstPosition; after < last; after += countedPerSlice) {
    const end = after + countedPerSlice;
    const some = await reader.all<Count>(countOfEachBetween, owners, after, end);
    for (const [at, { n }] of some.entries()) counts[at] = (counts[at] ?? 0) + n;
    if (pace.isOver()) await pace.rest();
  }
  return counts;
}

/** Devices in the tables of either engine. */
export function createDeviceStore(
  { reader, write, damaged }: SqlContext<typeof deviceWrites>,
  { limits, load, datapoints, forget }: DeviceStoreOptions,
): DeviceStore {
  return {
    insert: (device) => write('insertDevice', insertOf(device)),
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
    countOwnedBy: countingOwned(reader, 'devices'),
    countOwnedByEach: (owners) => countOfOwners(reader, owners),
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
  const deviceId = device_id as DeviceId;
  return [{ deviceId, actuatorId: actuator.id, at: actuator.revert.at }];
}

function insertOf(device: Device): DeviceInsert {
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

/** The rows of a device, of its sensors and of its actuators, in their order. */
export interface DeviceRows {
  readonly row: DeviceRow;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

/**
 * Reads the devices that exist, each as of one commit, in the order asked for. Nothing is awaited
 * while they are taken.
 */
export type LoadDevices = (ids: readonly string[]) => Promise<Iterable<DeviceRows>>;

/** Reads devices with their parts, of what the engine loads. */
function createDeviceReading({
  load,
  damaged,
  limits,
}: {
  readonly load: LoadDevices;
  readonly damaged: DamagedRows;
  readonly limits: SliceLimits;
}): Pick<DeviceStore, 'find' | 'readSome'> {
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

/** A device of a list: its place in the order of creation, and its id. */
interface Entry {
  readonly position: number;
  readonly id: DeviceId;
}

interface HeadRow {
  readonly id: DeviceId;
  readonly owner: Username;
  readonly visibility: Visibility | null;
  readonly created_at: number;
}

// Fields that have a column; a column may find too much, never too little.
const conditionOf = new Map([
  ['id', 'id = ?'],
  ['owner', 'nocase(owner) = nocase(?)'],
  ['gateway_id', 'gateway_id = ?'],
  ['domain', 'domain = ?'],
]);

/** Lists of devices; candidates of a search come in slices of `sliceMax`. */
function createDeviceListing(options: {
  readonly reader: SqlReader;
  readonly sliceMax: number;
}): Pick<DeviceStore, 'list' | 'candidates'> {
  const { reader, sliceMax } = options;
  const list = listing<HeadRow>(reader, 'device', 'id, owner, visibility, created_at');
  return {
    async list(page) {
      const { rows, total } = await list(page);
      return { devices: rows.map(headOf), total };
    },
    async candidates({ visibleTo, equals, after = firstPosition }) {
      const slice = (await slicesOf(reader, 'device', visibleTo))?.(after);
      const { sql, values } = allOf([
        ...visibleRows('device', slice?.visibleTo ?? visibleTo),
        ...narrowing(equals),
        slice?.between ?? { sql: 'position > ?', values: [after] },
      ]);
      const select = `select position, id from devices where ${sql} order by position limit ?`;
      const found = await reader.all<Entry>(numbered(select), ...values, sliceMax);
      const ids = found.map(({ id }) => id);
      if (found.length === sliceMax) return { ids, next: found.at(-1)?.position };
      const isLast = slice === undefined || slice.end >= (await lastPosition(reader, 'devices'));
      return { ids, next: isLast ? undefined : slice.end };
    },
  };
}

const headOf = ({ id, owner, visibility, created_at: createdAt }: HeadRow): DeviceHead =>
  visibility === null ? { id, owner, createdAt } : { id, owner, visibility, createdAt };

function narrowing(equals: ReadonlyMap<string, string>): Condition[] {
  const conditions: Condition[] = [];
  for (const [field, text] of equals) {
    const sql = conditionOf.get(field);
    if (sql !== undefined) conditions.push({ sql, values: [text] });
  }
  return conditions;
}
