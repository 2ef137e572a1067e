import type { JsonValue } from '../../lib/json.ts';
import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import { type DataReach, reaches, type VisibleTo } from '../access/viewer.ts';
import {
  type Device,
  type DeviceHead,
  type DeviceListing,
  type DeviceStore,
  sensorOf,
} from '../devices/device.ts';
import { type Filter, matches, requiredEquals } from '../devices/query-evaluation.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import type { BriefLastValues, DatapointStore } from './datapoint-store.ts';
import { calibratedDatapoint } from './history.ts';

/** Criteria of a search, and the page of its result that is wanted. */
export interface DeviceSearch {
  readonly visibleTo: VisibleTo;
  readonly filter: Filter;
  /** Of which devices the filter may ask for last values, others have none; absent: of none. */
  readonly valuesWithin?: DataReach;
  readonly limit: number;
  readonly offset: number;
  /** The slices of long work; absent: it lets other work run now and then. */
  readonly pace?: Pace;
}

/**
 * Searches devices in bounded slices, in order of creation, letting others run in between. A device
 * that changes or goes meanwhile is taken as it is then, or left out.
 */
export async function searchDevices(
  {
    store,
    datapoints,
  }: {
    readonly store: Pick<DeviceStore, 'candidates' | 'readSome'>;
    readonly datapoints: LastValueReads;
  },
  { visibleTo, filter, valuesWithin, limit, offset, pace = ownPace() }: DeviceSearch,
): Promise<DeviceListing> {
  const round = createFilterRound(filter, { valuesWithin, datapoints });
  const equals = requiredEquals(filter);
  const devices: DeviceHead[] = [];
  let total = 0;
  const keep = (device: Device): void => {
    if (total >= offset && devices.length < limit) devices.push(headOf(device));
    total += 1;
  };

  async function look(found: readonly Device[]): Promise<void> {
    const verdicts: ReturnType<typeof round.look>[] = [];
    for (const device of found) {
      verdicts.push(round.look(device));
      if (pace.isOver()) await pace.rest();
    }
    const wanting = found.filter((_, at) => verdicts[at] === 'wants values');
    const values =
      wanting.length === 0
        ? new Map()
        : await datapoints.briefLastValues(wanting.map(({ id }) => id));
    for (const [at, device] of found.entries()) {
      const verdict = verdicts[at];
      const passes =
        verdict === 'wants values' ? await round.decide(device, values) : verdict === 'passes';
      if (passes) keep(device);
      if (pace.isOver()) await pace.rest();
    }
  }

  let after: number | undefined;
  do {
    const { ids, next } = await store.candidates({
      ...{ visibleTo, equals },
      ...(after !== undefined && { after }),
    });
    let rest: readonly DeviceId[] = ids;
    while (rest.length > 0) {
      const { devices: found, taken } = await store.readSome(rest);
      rest = rest.slice(taken);
      await look(found);
      if (pace.isOver()) await pace.rest();
    }
    after = next;
  } while (after !== undefined);
  return { devices, total };
}

const headOf = ({ id, owner, visibility, createdAt }: Device): DeviceHead =>
  visibility === undefined ? { id, owner, createdAt } : { id, owner, visibility, createdAt };

/** Reads of the datapoint store that a filter needs. */
type LastValueReads = Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;

/** Which devices pass a filter; it sees last values as readers do, or none if it may not. */
function createFilterRound(
  filter: Filter,
  options: {
    readonly valuesWithin: DataReach | undefined;
    readonly datapoints: LastValueReads;
  },
) {
  const { valuesWithin, datapoints } = options;

  const maySeeValues = (device: Device): boolean =>
    valuesWithin !== undefined && reaches(valuesWithin, device);

  /** Evaluates a device that wanted values again, reading large ones one by one. */
  async function decide(device: Device, values: BriefLastValues): Promise<boolean> {
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

  return {
    /** Evaluates a device without its last values. */
    look(device: Device): 'passes' | 'fails' | 'wants values' {
      // Most filters ask for no value, or are decided before they do.
      let isWanting = false;
      const passes = matches(filter, device, () => {
        isWanting = true;
        return undefined;
      });
      if (!isWanting) return passes ? 'passes' : 'fails';
      if (device.sensors.length === 0 || !maySeeValues(device)) return passes ? 'passes' : 'fails';
      return 'wants values';
    },
    decide,
  };
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
