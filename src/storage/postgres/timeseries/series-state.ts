import type { ColumnBatch } from '../../../domain/datapoints/column-batch.ts';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import { bucketOf } from '../../sql/device-row.ts';
import type { SqlSession } from '../../sql/session.ts';
import { isHere } from '../parts.ts';

const selectSensors = (here: string): string => `
  select place::integer as place, bucket, series, arrivals, newest, last_received
  from unnest($1::text[], $2::text[]) with ordinality as given (device, sensor, place)
  join sensors on ${here} device_id = device and sensor_id = sensor`;

// The row of a lock that was waited for is the newest one, and all columns are of that.
const locked = 'order by series for no key update of sensors';

/** A sensor as the commit finds it, and what the commit brings. */
export interface SeriesState {
  readonly sensor: SensorRef;
  readonly bucket: number;
  readonly series: number;
  /** Datapoints that it had before. */
  readonly arrivals: number;
  /** No timestamp is later that was stored before. */
  readonly newestStored: number;
  /** No timestamp is later of all. */
  newest: number;
  /** When its last value was received. */
  lastReceived: number;
  /** Positions of the sensor's pushes among those of the commit. */
  readonly places: number[];
  added: number;
  took: number;
  last: { readonly batch: ColumnBatch; readonly row: number } | undefined;
  readonly staged: ColumnBatch[];
}

interface AskedSensor {
  readonly sensor: SensorRef;
  /** Positions of its pushes. */
  readonly places: number[];
}

interface SensorRow {
  /** The position of the sensor among those that were asked for, from 1. */
  readonly place: number;
  readonly bucket: number;
  readonly series: number;
  readonly arrivals: number;
  readonly newest: number | null;
  readonly last_received: number | null;
}

/**
 * The sensors of the pushes, as far as there are any, each once. Where several processes serve, the
 * first statement locks them, in the order of `series`.
 */
export async function statesOf(
  session: Pick<SqlSession, 'all'>,
  batch: readonly SensorRef[],
  { own, hasParts }: { readonly own: number | undefined; readonly hasParts: boolean },
): Promise<readonly SeriesState[]> {
  const sensors = new Map<string, AskedSensor>();
  for (const [place, sensor] of batch.entries()) {
    // No id has a slash.
    const key = `${sensor.deviceId}/${sensor.sensorId}`;
    const known = sensors.get(key);
    if (known === undefined) sensors.set(key, { sensor, places: [place] });
    else known.places.push(place);
  }
  const asked = [...sensors.values()];
  const select = selectSensors(isHere(hasParts, 3));
  const ask = async (some: readonly AskedSensor[]): Promise<readonly SeriesState[]> => {
    const devices = some.map(({ sensor }) => sensor.deviceId);
    const found = await session.all<SensorRow>(
      own === undefined ? select : `${select} ${locked}`,
      devices,
      some.map(({ sensor }) => sensor.sensorId),
      ...(hasParts ? [devices.map(bucketOf)] : []),
    );
    return found.flatMap((row) => stateOf(some[row.place - 1], row) ?? []);
  };
  const states = await ask(asked);
  if (own === undefined || states.length === asked.length) return states;
  // A sensor that was removed and made anew while its lock was waited for has another row.
  const found = new Set(states.map(({ places }) => places));
  return [...states, ...(await ask(asked.filter(({ places }) => !found.has(places))))];
}

function stateOf(asked: AskedSensor | undefined, row: SensorRow): SeriesState | undefined {
  if (asked === undefined) return undefined;
  const { bucket, series, arrivals } = row;
  const newestStored = row.newest ?? Number.NEGATIVE_INFINITY;
  return {
    ...{ ...asked, bucket, series, arrivals, newestStored, newest: newestStored },
    lastReceived: row.last_received ?? Number.NEGATIVE_INFINITY,
    ...{ added: 0, took: 0, last: undefined, staged: [] },
  };
}
