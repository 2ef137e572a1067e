import type { DatabaseSync } from 'node:sqlite';
import type { Device, Visibility } from '../../domain/devices/device.ts';
import type {
  DeviceHead,
  DeviceListing,
  DeviceStore,
  SomeDevices,
} from '../../domain/devices/device-store.ts';
import { type Filter, requiredEquals } from '../../domain/devices/query.ts';
import type { DeviceId, Username } from '../../domain/ids.ts';
import { ownPace, type Pace } from '../../lib/fair-turns.ts';
import { createFilterRound, type LastValueReads } from '../device-filter.ts';
import { asRefusal, readSafely } from './failures.ts';
import { allOf, type Condition, once, visibleRows } from './list-conditions.ts';
import { createSelection, inSnapshot } from './selection.ts';
import { sqliteLimits } from './sqlite-limits.ts';

type ListPage = Parameters<DeviceStore['list']>[0];

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
}

// Fields that have a column; a column may find too much, never too little.
const columnOf = new Map([
  ['id', 'id'],
  ['owner', 'owner'],
  ['gateway_id', 'gateway_id'],
  ['domain', 'domain'],
]);

/**
 * Lists devices in bounded slices, letting others run between them. A device that changes or goes
 * while a list is gathered is shown as it is then, or left out.
 */
export function createDeviceListing(options: {
  readonly reader: DatabaseSync;
  readonly load: (id: DeviceId) => WeighedDevice | undefined;
  readonly datapoints: LastValueReads;
}): Pick<DeviceStore, 'list' | 'readSome'> {
  const { reader, load, datapoints } = options;
  const select = createStatements(reader);

  /** Devices from the head of these, as many as one slice may hold in memory. */
  function loadSome(ids: readonly DeviceId[], pace?: Pace): SomeDevices {
    return inSnapshot(reader, () => loadSlice(ids, pace));
  }

  function loadSlice(ids: readonly DeviceId[], pace?: Pace): SomeDevices {
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
      if (characters >= sqliteLimits.listCharactersPerSlice || pace?.isOver() === true) break;
    }
    return { devices, taken };
  }

  function listAll(page: ListPage): DeviceListing {
    const { sql, parameters } = allOf(visibleRows('device', page.visibleTo));
    return inSnapshot(reader, () => ({
      total: select.count(sql).first(...parameters)?.n ?? 0,
      devices: select
        .page(sql)
        .all(...parameters, page.limit, page.offset)
        .map(headOf),
    }));
  }

  async function listPassing(page: ListPage, filter: Filter): Promise<DeviceListing> {
    const { valuesWithin, pace = ownPace() } = page;
    const conditions = [...visibleRows('device', page.visibleTo), ...narrowing(filter)];
    const { sql, parameters } = allOf(conditions);
    const round = createFilterRound(filter, { valuesWithin, datapoints });
    const devices: DeviceHead[] = [];
    let total = 0;
    const keep = (device: Device): void => {
      if (total >= page.offset && devices.length < page.limit) devices.push(headOf(device));
      total += 1;
    };

    async function search(candidates: readonly Device[]): Promise<void> {
      const verdicts: ReturnType<typeof round.look>[] = [];
      for (const device of candidates) {
        verdicts.push(round.look(device));
        if (pace.isOver()) await pace.rest();
      }
      const wanting = candidates.filter((_, at) => verdicts[at] === 'wants values');
      const values = await datapoints.briefLastValues(wanting.map(({ id }) => id));
      for (const [at, device] of candidates.entries()) {
        const verdict = verdicts[at];
        const passes =
          verdict === 'wants values' ? await round.decide(device, values) : verdict === 'passes';
        if (passes) keep(device);
        if (pace.isOver()) await pace.rest();
      }
    }

    let position = 0;
    for (;;) {
      const slice = select.slice(sql).all(...parameters, position, sqliteLimits.listPartsPerSlice);
      const last = slice.at(-1);
      if (last === undefined) return { devices, total };
      position = last.position;
      let ids = slice.map(({ id }) => id);
      while (ids.length > 0) {
        const { devices: candidates, taken } = loadSome(ids, pace);
        ids = ids.slice(taken);
        await search(candidates);
        if (pace.isOver()) await pace.rest();
      }
    }
  }

  return {
    async list(page) {
      try {
        return page.filter === undefined ? listAll(page) : await listPassing(page, page.filter);
      } catch (error) {
        throw asRefusal(error);
      }
    },
    readSome: (ids) => readSafely(() => loadSome(ids)),
  };
}

const headOf = ({ id, owner, visibility }: HeadRow | Device): DeviceHead =>
  visibility === null || visibility === undefined ? { id, owner } : { id, owner, visibility };

function narrowing(filter: Filter): Condition[] {
  const conditions: Condition[] = [];
  for (const [field, text] of requiredEquals(filter)) {
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
        `select id, owner, visibility from devices where ${where}
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
