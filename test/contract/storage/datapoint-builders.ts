import { toColumnBatch, toDatapoints } from '../../../src/domain/datapoints/column-batch.ts';
import type { Datapoint, SensorRef } from '../../../src/domain/datapoints/datapoint.ts';
import {
  type DatapointStore,
  type Push,
  readDatapoints,
} from '../../../src/domain/datapoints/datapoint-store.ts';
import type { JsonValue } from '../../../src/lib/json.ts';
import { deviceId, noon, sensorId } from './builders.ts';

/** A sensor of a device; the first one when the test does not care. */
export function sensor(device = 'd1', id = 's1'): SensorRef {
  return { deviceId: deviceId(device), sensorId: sensorId(id) };
}

/** A datapoint measured this many seconds after noon. */
export function at(seconds: number, value: JsonValue): Datapoint {
  const timestamp = noon + seconds * 1_000;
  return { value, timestamp, receivedAt: timestamp + 250 };
}

/** A datapoint without timestamp, received this many seconds after noon. */
export function untimed(seconds: number, value: JsonValue): Datapoint {
  return { value, receivedAt: noon + seconds * 1_000 };
}

/** A push of datapoints to a sensor. */
export function push(datapoints: readonly Datapoint[], to: SensorRef = sensor()): Push {
  return { ...to, batch: toColumnBatch(datapoints) };
}

/** Appends a batch and answers its outcomes, with what is new as objects. */
export async function appended(
  store: DatapointStore,
  batch: readonly Push[],
): Promise<readonly object[]> {
  const outcomes = await store.append(batch);
  return outcomes.map((outcome) =>
    outcome.kind === 'stored' ? { ...outcome, fresh: toDatapoints(outcome.fresh) } : outcome,
  );
}

/** The values of a sensor, oldest first. */
export async function allValues(
  store: DatapointStore,
  from: SensorRef = sensor(),
): Promise<JsonValue[]> {
  const datapoints = await readDatapoints(store, from, { order: 'asc', skip: 0, limit: 100_000 });
  return datapoints.map(({ value }) => value);
}

/** The last value of the first sensor. */
export function lastValue(store: DatapointStore): Promise<JsonValue | undefined> {
  return lastValueIn(store, sensor());
}

export async function lastValueIn(
  store: DatapointStore,
  of: SensorRef,
): Promise<JsonValue | undefined> {
  const values = await store.lastValues([of.deviceId]);
  return values.get(of.deviceId)?.get(of.sensorId)?.value;
}
