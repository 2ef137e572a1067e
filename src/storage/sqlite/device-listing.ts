import type { DatabaseSync } from 'node:sqlite';
import type { Device, Visibility } from '../../domain/devices/device.ts';
import type {
  CandidateSearch,
  Candidates,
  DeviceHead,
  DeviceStore,
  SomeDevices,
} from '../../domain/devices/device-store.ts';
import type { DeviceId, Username } from '../../domain/ids.ts';
import { readSafely } from './failures.ts';
import { allOf, type Condition, once, visibleRows } from './list-conditions.ts';
import { createSelection, inSnapshot } from './selection.ts';
import { sqliteLimits } from './sqlite-limits.ts';

/** A device with what its description weighs, in characters of JSON text. */
export interface WeighedDevice {
  readonly device: Device;
  readonly characters: number;
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

/** Before all positions. */
const firstPosition = -1;

// Fields that have a column; a column may find too much, never too little.
const columnOf = new Map([
  ['id', 'id'],
  ['owner', 'owner'],
  ['gateway_id', 'gateway_id'],
  ['domain', 'domain'],
]);

/** Lists of devices, in bounded slices. */
export function createDeviceListing(options: {
  readonly reader: DatabaseSync;
  readonly load: (id: DeviceId) => WeighedDevice | undefined;
}): Pick<DeviceStore, 'list' | 'candidates' | 'readSome'> {
  const { reader, load } = options;
  const select = createStatements(reader);

  /** Devices from the head of these, as many as one slice may hold, or a few ms of work. */
  function loadSome(ids: readonly DeviceId[]): SomeDevices {
    const startedAt = performance.now();
    const devices: Device[] = [];
    let [taken, parts, characters] = [0, 0, 0];
    for (const id of ids) {
      const weighed = load(id);
      taken += 1;
      if (weighed === undefined) continue;
      devices.push(weighed.device);
      parts += 1 + weighed.device.sensors.length + weighed.device.actuators.length;
      characters += weighed.characters;
      if (parts >= sqliteLimits.listPartsPerSlice) break;
      if (characters >= sqliteLimits.listCharactersPerSlice) break;
      if (performance.now() - startedAt > sqliteLimits.listMsPerSlice) break;
    }
    return { devices, taken };
  }

  function candidates({ visibleTo, equals, after = firstPosition }: CandidateSearch): Candidates {
    const conditions = [...visibleRows('device', visibleTo), ...narrowing(equals)];
    const { sql, parameters } = allOf(conditions);
    const slice = select.slice(sql).all(...parameters, after, sqliteLimits.listPartsPerSlice);
    const next = slice.length < sqliteLimits.listPartsPerSlice ? undefined : slice.at(-1)?.position;
    return { ids: slice.map(({ id }) => id), next };
  }

  return {
    list: ({ visibleTo, limit, offset }) =>
      readSafely(() => {
        const { sql, parameters } = allOf(visibleRows('device', visibleTo));
        return inSnapshot(reader, () => ({
          total: select.count(sql).first(...parameters)?.n ?? 0,
          devices: select
            .page(sql)
            .all(...parameters, limit, offset)
            .map(headOf),
        }));
      }),
    candidates: (search) => readSafely(() => candidates(search)),
    readSome: (ids) => readSafely(() => inSnapshot(reader, () => loadSome(ids))),
  };
}

const headOf = ({ id, owner, visibility, created_at: createdAt }: HeadRow): DeviceHead =>
  visibility === null ? { id, owner, createdAt } : { id, owner, visibility, createdAt };

function narrowing(equals: ReadonlyMap<string, string>): Condition[] {
  const conditions: Condition[] = [];
  for (const [field, text] of equals) {
    const column = columnOf.get(field);
    if (column !== undefined) conditions.push({ sql: `${column} = ?`, parameters: [text] });
  }
  return conditions;
}

function createStatements(reader: DatabaseSync) {
  return {
    count: once((where) =>
      createSelection<{ n: number }>(reader, `select count(*) as n from devices where ${where}`),
    ),
    page: once((where) =>
      createSelection<HeadRow>(
        reader,
        `select id, owner, visibility, created_at from devices where ${where}
        order by position limit ? offset ?`,
      ),
    ),
    slice: once((where) =>
      createSelection<Entry>(
        reader,
        `select position, id from devices where ${where} and position > ?
        order by position limit ?`,
      ),
    ),
  };
}
