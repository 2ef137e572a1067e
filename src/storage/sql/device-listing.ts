import type { Visibility } from '../../domain/devices/device.ts';
import type { DeviceHead, DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, Username } from '../../domain/ids.ts';
import { allOf, type Condition, listing, numbered, visibleRows } from './resources.ts';
import type { SqlReader } from './session.ts';

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

/** Lists of devices; candidates of a search come in slices of `sliceMax`. */
export function createDeviceListing(options: {
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
      const visible = visibleRows('device', visibleTo);
      const { sql, values } = allOf([...visible, ...narrowing(equals)]);
      const select = numbered(
        `select position, id from devices where ${sql} and position > ?
         order by position limit ?`,
      );
      const slice = await reader.all<Entry>(select, ...values, after, sliceMax);
      const next = slice.length < sliceMax ? undefined : slice.at(-1)?.position;
      return { ids: slice.map(({ id }) => id), next };
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
