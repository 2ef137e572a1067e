import type { JsonValue } from '../../lib/json.ts';
import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { GrantStore } from '../access/grant.ts';
import { knowsOffer } from '../access/handing-over.ts';
import {
  createViewer,
  type DataReach,
  reaches,
  type Viewer,
  type VisibleTo,
  within,
} from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import {
  type Device,
  type DeviceHead,
  type DeviceListing,
  type DeviceStore,
  type Sensor,
  sensorOf,
  withoutActuatorValues,
} from '../devices/device.ts';
import { type Devices, deviceResource } from '../devices/devices.ts';
import { type Filter, matches, narrowingOf } from '../devices/query-evaluation.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import type { ListPart } from '../listing.ts';
import type { Datapoint } from './datapoint.ts';
import { calibratedDatapoint } from './datapoint.ts';
import type { BriefLastValues, DatapointStore } from './datapoint-store.ts';
import type { ReadParts } from './history.ts';

/** A device with its last values as the actor may see them: calibrated, or absent. */
export interface DeviceSnapshot {
  readonly device: Device;
  /** A small last value; 'large': `largeValueOf` reads it. */
  readonly lastValueOf: (sensor: Sensor) => Datapoint | 'large' | undefined;
  readonly largeValueOf: (sensor: Sensor) => Promise<Datapoint | undefined>;
  /**
   * Reads the value that `lastValueOf` makes its answer of. While the device and this value are the
   * same objects, the text of the answer is the same; absent: nothing is promised.
   */
  readonly stableValueOf?: (sensor: Sensor) => Datapoint | 'large' | undefined;
}

export interface SensorSnapshot {
  readonly sensor: Sensor;
  readonly lastValue: Datapoint | undefined;
}

/** Devices that are read from the store as the writer of the answer asks for more. */
interface SnapshotList {
  /** Ids of the devices of the page; the devices are read step by step. */
  readonly ids: readonly DeviceId[];
  readonly steps: AsyncIterable<readonly DeviceSnapshot[]>;
  readonly total: number;
}

/** Whether last values are calibrated, the default, or as they were pushed. */
interface ValueOptions {
  readonly isCalibrated?: boolean;
}

interface ListPage extends ValueOptions, ListPart {
  readonly filter?: Filter;
}

/** Devices as the API shows them, with last values for those who may view the data. */
export type Snapshots = ReturnType<typeof createSnapshots>;

/** Shows only to the owner and the recipient that a device waits to be accepted [contract 15]. */
function shownTo(actor: Actor, device: Device): Device {
  if (device.isPending !== true && device.offeredTo === undefined) return device;
  const { isPending, offeredTo: _, ...shown } = device;
  const isOwner = actor.kind !== 'guest' && actor.username === device.owner;
  const isTold = knowsOffer(actor, device) || (isPending === true && isOwner);
  return isTold ? device : shown;
}

const absent = { lastValueOf: () => undefined, largeValueOf: async () => undefined } as const;

export function createSnapshots(
  options: Pick<ReadParts, 'datapoints' | 'access' | 'longWork'> & {
    readonly devices: Devices;
    /** Stores that a search reads. */
    readonly store: Pick<DeviceStore, 'list' | 'candidates' | 'readSome'>;
    readonly grants: GrantStore;
  },
) {
  const { devices, store, datapoints, grants, access, longWork } = options;

  function withLastValues(
    actor: Actor,
    device: Device,
    values: BriefLastValues,
    { isCalibrated }: ValueOptions = {},
  ): DeviceSnapshot {
    const shown = (sensor: Sensor, last: Datapoint): Datapoint =>
      isCalibrated === false ? last : calibratedDatapoint(sensor, last);
    const ofDevice = values.get(device.id);
    if (ofDevice === undefined) return { device, ...absent };
    return {
      device,
      ...(isCalibrated !== false && { stableValueOf: (sensor) => ofDevice.get(sensor.id) }),
      lastValueOf(sensor) {
        const last = ofDevice.get(sensor.id);
        if (last === undefined || last === 'large') return last;
        return shown(sensor, last);
      },
      async largeValueOf(sensor) {
        // Read one large value at a time, over all requests: each may be several megabytes.
        await longWork.paceOf(actor).rest();
        const last = await datapoints.lastValue({ deviceId: device.id, sensorId: sensor.id });
        return last && shown(sensor, last);
      },
    };
  }

  async function snapshotOf(actor: Actor, found: Device, options?: ValueOptions) {
    const device = shownTo(actor, found);
    const maySee = await access.allows(actor, 'devices-data:view', deviceResource(device));
    if (!maySee) return withoutValues(device);
    if (device.sensors.length === 0) return { device, ...absent };
    const values = await datapoints.briefLastValues([device.id]);
    return withLastValues(actor, device, values, options);
  }

  const viewerOf = (actor: Actor): Promise<Viewer> =>
    createViewer({ actor, kind: 'device', grants, settings: access.settings });

  async function* stepsOf(
    actor: Actor,
    viewer: Viewer,
    listed: readonly DeviceId[],
    options: ValueOptions & { readonly pace: Pace },
  ): AsyncGenerator<readonly DeviceSnapshot[]> {
    let ids = listed;
    while (ids.length > 0) {
      const { devices: found, taken } = await devices.readSome(viewer, ids);
      ids = ids.slice(taken);
      const readable = found.filter((device) =>
        viewer.may('devices-data:view', deviceResource(device)),
      );
      const values = await datapoints.briefLastValues(readable.map(({ id }) => id));
      const shown = new Set(readable);
      yield found.map((one) => {
        const device = shownTo(actor, one);
        if (!shown.has(one)) return withoutValues(device);
        return withLastValues(actor, device, values, options);
      });
      if (ids.length > 0) await options.pace.rest();
    }
  }

  const search = (
    { visibleTo, dataReach }: Viewer,
    what: Pick<DeviceSearch, 'filter' | 'limit' | 'offset' | 'pace'>,
  ) => searchDevices({ store, datapoints }, { ...what, visibleTo, valuesWithin: dataReach });

  async function list(actor: Actor, viewer: Viewer, page: ListPage): Promise<SnapshotList> {
    const { filter, limit, offset } = page;
    const listing = await (filter === undefined
      ? devices.list({ viewer, limit, offset })
      : longWork.run(actor, (pace) => search(viewer, { filter, limit, offset, pace })));
    const ids = listing.devices.map(({ id }) => id);
    const options = { ...page, pace: longWork.paceOf(actor) };
    return { ids, steps: stepsOf(actor, viewer, ids, options), total: listing.total };
  }

  return {
    device: async (actor: Actor, id: DeviceId, options?: ValueOptions): Promise<DeviceSnapshot> =>
      snapshotOf(actor, await devices.get(actor, id), options),
    devices: async (actor: Actor, page: ListPage): Promise<SnapshotList> =>
      list(actor, await viewerOf(actor), page),
    /** Lists those of these devices that exist and the actor may view, in order of creation. */
    async getMany(actor: Actor, ids: readonly DeviceId[]): Promise<SnapshotList> {
      const viewer = await viewerOf(actor);
      const visibleTo = within(viewer.visibleTo, ids);
      return list(actor, { ...viewer, visibleTo }, { limit: ids.length, offset: 0 });
    },
    async sensor(
      actor: Actor,
      id: DeviceId,
      sensorId: SensorId,
      { isCalibrated = true }: ValueOptions = {},
    ): Promise<SensorSnapshot> {
      const [device, sensor] = await devices.getSensor(actor, id, sensorId);
      const maySee = await access.allows(actor, 'devices-data:view', deviceResource(device));
      if (!maySee) return { sensor, lastValue: undefined };
      const last = await datapoints.lastValue({ deviceId: id, sensorId });
      const isShownRaw = last === undefined || !isCalibrated;
      return { sensor, lastValue: isShownRaw ? last : calibratedDatapoint(sensor, last) };
    },
  };
}

function withoutValues(device: Device): DeviceSnapshot {
  return { device: withoutActuatorValues(device), ...absent };
}

/** Criteria of a search, and the page of its result that is wanted. */
interface DeviceSearch extends ListPart {
  readonly visibleTo: VisibleTo;
  readonly filter: Filter;
  /** Of which devices the filter may ask for last values, others have none; absent: of none. */
  readonly valuesWithin?: DataReach;
  /** The slices of long work; absent: it lets other work run now and then. */
  readonly pace?: Pace;
}

/**
 * Searches devices in bounded slices, in order of creation, letting others run in between. A device
 * that changes or goes meanwhile is taken as it is then, or left out.
 */
export async function searchDevices(
  options: {
    readonly store: Pick<DeviceStore, 'list' | 'candidates' | 'readSome'>;
    readonly datapoints: LastValueReads;
  },
  { visibleTo, filter, valuesWithin, limit, offset, pace = ownPace() }: DeviceSearch,
): Promise<DeviceListing> {
  const { store, datapoints } = options;
  const { equals, ids, isAll } = narrowingOf(filter);
  const searched = ids === undefined ? visibleTo : within(visibleTo, ids);
  const owner = equals.get('owner');
  const isOfOwner = equals.size === Number(owner !== undefined);
  if (isAll && ids === undefined && isOfOwner) {
    if (owner === undefined) return store.list({ visibleTo, limit, offset });
    const ofOwner = { visibleTo, owner };
    const listing = await store.list({ ...ofOwner, limit, offset });
    const { devices: found } =
      listing.total > 0 && listing.devices.length === 0
        ? await store.list({ ...ofOwner, limit: 1, offset: 0 })
        : listing;
    // Stores find an owner in any case of letters, filters do not.
    return found[0]?.owner === owner ? listing : { devices: [], total: 0 };
  }
  const devices: DeviceHead[] = [];
  let total = 0;

  function take(head: DeviceHead): void {
    if (total >= offset && devices.length < limit) devices.push(head);
    total += 1;
  }

  async function search(found: readonly Device[]): Promise<void> {
    const verdicts: ReturnType<typeof withoutLastValues>[] = [];
    for (const device of found) {
      verdicts.push(withoutLastValues(filter, device, valuesWithin));
      if (pace.isOver()) await pace.rest();
    }
    const wanting = found.filter((_, at) => verdicts[at] === 'wants values');
    const values: BriefLastValues =
      wanting.length === 0
        ? new Map()
        : await datapoints.briefLastValues(wanting.map(({ id }) => id));
    for (const [at, device] of found.entries()) {
      const verdict = verdicts[at];
      const passes =
        verdict === 'wants values'
          ? await passesWithLastValues(filter, device, { values, datapoints })
          : verdict;
      if (passes === true) take(headOf(device));
      if (pace.isOver()) await pace.rest();
    }
  }

  let after: number | undefined;
  do {
    const { devices: found, next } = await store.candidates({
      ...{ visibleTo: searched, equals },
      ...(after !== undefined && { after }),
    });
    if (isAll) {
      for (const head of found) if (owner === undefined || head.owner === owner) take(head);
    }
    let rest = isAll ? [] : found.map(({ id }) => id);
    while (rest.length > 0) {
      const { devices: found, taken } = await store.readSome(rest);
      rest = rest.slice(taken);
      await search(found);
      if (pace.isOver()) await pace.rest();
    }
    if (pace.isOver()) await pace.rest();
    after = next;
  } while (after !== undefined);
  return { devices, total };
}

const headOf = ({ id, owner, visibility, createdAt }: Device): DeviceHead =>
  visibility === undefined ? { id, owner, createdAt } : { id, owner, visibility, createdAt };

/** Reads of the datapoint store that a filter needs. */
type LastValueReads = Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;

/** Whether a device passes, as far as that is known without its last values. */
function withoutLastValues(
  filter: Filter,
  device: Device,
  valuesWithin: DataReach | undefined,
): boolean | 'wants values' {
  // Most filters ask for no value, or are decided before they do.
  let isWanting = false;
  const passes = matches(filter, device, () => {
    isWanting = true;
    return undefined;
  });
  if (!isWanting || device.sensors.length === 0) return passes;
  const maySeeValues = valuesWithin !== undefined && reaches(valuesWithin, device);
  return maySeeValues ? 'wants values' : passes;
}

/** Whether a device passes that wanted values; large ones are read one by one. */
async function passesWithLastValues(
  filter: Filter,
  device: Device,
  { values, datapoints }: { readonly values: BriefLastValues; readonly datapoints: LastValueReads },
): Promise<boolean> {
  const large = new Map<SensorId, JsonValue | undefined>();
  for (;;) {
    let missing: SensorId | undefined;
    const passes = matches(filter, device, (name) => {
      const id = name as SensorId;
      if (large.has(id)) return large.get(id);
      const value = lastValueIn(device, name, values);
      if (value !== isLarge) return value;
      missing ??= id;
      return undefined;
    });
    if (missing === undefined) return passes;
    const read = await datapoints.lastValue({ deviceId: device.id, sensorId: missing });
    large.set(missing, read?.value);
  }
}

const isLarge = Symbol('large');

function lastValueIn(
  device: Device,
  name: string,
  values: BriefLastValues,
): JsonValue | undefined | typeof isLarge {
  // The name comes from a filter; as the id of a sensor that exists it is a sensor id.
  const sensor = sensorOf(device, name as SensorId);
  const datapoint = sensor && values.get(device.id)?.get(sensor.id);
  if (datapoint === 'large') return isLarge;
  return datapoint && calibratedDatapoint(sensor, datapoint).value;
}
