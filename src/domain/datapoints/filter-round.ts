import type { JsonValue } from '../../lib/json.ts';
import { type DataReach, reaches } from '../access/viewer.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import { type Filter, matches } from '../devices/query-evaluation.ts';
import type { SensorId } from '../ids.ts';
import type { BriefLastValues, DatapointStore } from './datapoint-store.ts';
import { calibratedDatapoint } from './history.ts';

/** Reads of the datapoint store that a filter needs. */
export type LastValueReads = Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;

/** Which devices pass a filter; it sees last values as readers do, or none if it may not. */
export interface FilterRound {
  /** Evaluates a device without its last values. */
  look(device: Device): 'passes' | 'fails' | 'wants values';
  /** Evaluates a device that wanted values again, with those of several devices at hand. */
  decide(device: Device, values: BriefLastValues): Promise<boolean>;
}

export function createFilterRound(
  filter: Filter,
  options: {
    readonly valuesWithin: DataReach | undefined;
    readonly datapoints: LastValueReads;
  },
): FilterRound {
  const { valuesWithin, datapoints } = options;

  const maySeeValues = (device: Device): boolean =>
    valuesWithin !== undefined && reaches(valuesWithin, device);

  /** With the large values that the filter asks for, one by one. */
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
    look(device) {
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
