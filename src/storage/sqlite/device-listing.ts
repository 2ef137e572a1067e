import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as othersRan } from 'node:timers/promises';
import type { Device } from '../../domain/devices/device.ts';
import type { DeviceListing, DeviceStore } from '../../domain/devices/device-store.ts';
import { type Filter, requiredEquals } from '../../domain/devices/query.ts';
import type { DeviceId } from '../../domain/ids.ts';
import { passing, type ReadLastValues } from '../device-filter.ts';
import { asRefusal } from './failures.ts';
import { allOf, type Condition, once, visibleRows } from './list-conditions.ts';
import { createSelection, inSnapshot } from './selection.ts';
import { sqliteLimits } from './sqlite-limits.ts';

type ListPage = Parameters<DeviceStore['list']>[0];

/** A device of a list: its place in the order of creation, and its id. */
interface Entry {
  readonly position: number;
  readonly id: DeviceId;
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
  readonly load: (id: DeviceId) => Device | undefined;
  readonly readLastValues: ReadLastValues;
}): DeviceStore['list'] {
  const { reader, load, readLastValues } = options;
  const select = createStatements(reader);

  /** The devices of these entries, in their order. */
  async function gather(entries: readonly Entry[]): Promise<Device[]> {
    const devices: Device[] = [];
    let parts = 0;
    for (const { id } of entries) {
      const device = load(id);
      if (device === undefined) continue;
      devices.push(device);
      parts += 1 + device.sensors.length + device.actuators.length;
      if (parts < sqliteLimits.listPartsPerSlice) continue;
      parts = 0;
      await othersRan();
    }
    return devices;
  }

  async function listAll(page: ListPage): Promise<DeviceListing> {
    const { sql, parameters } = allOf(visibleRows('device', page.visibleTo));
    const { total, entries } = inSnapshot(reader, () => ({
      total: select.count(sql).first(...parameters)?.n ?? 0,
      entries: select.page(sql).all(...parameters, page.limit, page.offset),
    }));
    return { devices: await gather(entries), total };
  }

  async function listPassing(page: ListPage, filter: Filter): Promise<DeviceListing> {
    const { maySeeValues } = page;
    const conditions = [...visibleRows('device', page.visibleTo), ...narrowing(filter)];
    const { sql, parameters } = allOf(conditions);
    const devices: Device[] = [];
    let total = 0;
    let position = 0;
    for (;;) {
      const slice = select.slice(sql).all(...parameters, position, sqliteLimits.listPartsPerSlice);
      const last = slice.at(-1);
      if (last === undefined) return { devices, total };
      position = last.position;
      const candidates = await gather(slice);
      for (const device of await passing(candidates, filter, { maySeeValues, readLastValues })) {
        if (total >= page.offset && devices.length < page.limit) devices.push(device);
        total += 1;
      }
      await othersRan();
    }
  }

  return async (page) => {
    try {
      return await (page.filter === undefined ? listAll(page) : listPassing(page, page.filter));
    } catch (error) {
      throw asRefusal(error);
    }
  };
}

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
      createSelection<Entry>(
        reader,
        `select position, id from devices where ${where} order by position limit ? offset ?`,
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
