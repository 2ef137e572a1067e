import type { Device, Visibility } from '../../domain/devices/device.ts';
import type { DeviceHead, DeviceStore, SomeDevices } from '../../domain/devices/device-store.ts';
import type { DeviceId, Username } from '../../domain/ids.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import { readDevices } from './device-reading.ts';
import { allOf, type Condition, numbered, visibleRows } from './list-conditions.ts';
import { postgresLimits } from './postgres-limits.ts';
import type { Reader } from './reader.ts';

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

/** Before all positions. */
const firstPosition = -1;

// Fields that have a column; a column may find too much, never too little.
const conditionOf = new Map([
  ['id', 'id = ?'],
  ['owner', 'nocase(owner) = nocase(?)'],
  ['gateway_id', 'gateway_id = ?'],
  ['domain', 'domain = ?'],
]);

/** Lists of devices, in bounded slices. */
export function createDeviceListing(options: {
  readonly reader: Reader;
  readonly damaged: DamagedRows;
}): Pick<DeviceStore, 'list' | 'candidates' | 'readSome'> {
  const { reader, damaged } = options;
  const sliceMax = postgresLimits.listPartsPerSlice;

  return {
    list({ visibleTo, limit, offset }) {
      const { sql, values } = allOf(visibleRows('device', visibleTo));
      const count = numbered(`select count(*) as n from devices where ${sql}`);
      const page = numbered(
        `select id, owner, visibility, created_at from devices where ${sql}
         order by position limit ? offset ?`,
      );
      return reader.inSnapshot(async (session) => ({
        total: (await session.first<{ n: number }>(count, ...values))?.n ?? 0,
        devices: (await session.all<HeadRow>(page, ...values, limit, offset)).map(headOf),
      }));
    },
    async candidates({ visibleTo, equals, after = firstPosition }) {
      const conditions = [...visibleRows('device', visibleTo), ...narrowing(equals)];
      const { sql, values } = allOf(conditions);
      const select = numbered(
        `select position, id from devices where ${sql} and position > ?
         order by position limit ?`,
      );
      const slice = await reader.all<Entry>(select, ...values, after, sliceMax);
      const next = slice.length < sliceMax ? undefined : slice.at(-1)?.position;
      return { ids: slice.map(({ id }) => id), next };
    },
    async readSome(ids): Promise<SomeDevices> {
      const some = ids.slice(0, postgresLimits.listDevicesPerSlice);
      const devices: Device[] = [];
      let [parts, characters] = [0, 0];
      for (const weighed of await readDevices(reader, damaged, some)) {
        const { device } = weighed;
        devices.push(device);
        parts += 1 + device.sensors.length + device.actuators.length;
        characters += weighed.characters;
        const isFull =
          parts >= postgresLimits.listPartsPerSlice ||
          characters >= postgresLimits.listCharactersPerSlice;
        if (isFull) return { devices, taken: some.indexOf(device.id) + 1 };
      }
      return { devices, taken: some.length };
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
