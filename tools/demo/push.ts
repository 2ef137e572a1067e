import { formatTimestamp } from '../../src/lib/timestamp.ts';
import type { ApiClient } from '../client/api-client.ts';
import { inParallel } from '../parallel.ts';
import { demoLimits } from './demo-limits.ts';
import type { DemoDevice } from './fleet.ts';
import type { SensorModel } from './model.ts';
import { pathOf } from './registration.ts';

interface Series {
  readonly path: string;
  readonly sensor: SensorModel;
}

const seriesOf = (fleet: readonly DemoDevice[]): readonly Series[] =>
  fleet.flatMap((device) =>
    device.sensors.map((sensor) => ({
      path: `${pathOf(device.id)}/sensors/${encodeURIComponent(sensor.id)}`,
      sensor,
    })),
  );

/** A stretch of the past, in steps that do not depend on when it is asked for. */
export interface Past {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/** How many instants the past of a fleet has, silent sensors included. */
export function countOf(fleet: readonly DemoDevice[], past: Past): number {
  return seriesOf(fleet).length * stepsOf(past);
}

const stepsOf = ({ from, to, stepMs }: Past) =>
  Math.floor(to / stepMs) - Math.ceil(from / stepMs) + 1;

/**
 * Pushes what the sensors of a fleet measured in the past, oldest first for each; answers the
 * number of values. Pushed again, the service stores them once [contract 6].
 */
export async function pushPast(
  client: ApiClient,
  fleet: readonly DemoDevice[],
  options: { readonly past: Past; readonly onProgress: (instants: number) => void },
): Promise<number> {
  const { past, onProgress } = options;
  const { stepMs } = past;
  const first = Math.ceil(past.from / stepMs);
  const last = first + stepsOf(past) - 1;
  let pushed = 0;
  await inParallel(seriesOf(fleet), demoLimits.requestsInParallel, async ({ path, sensor }) => {
    for (let step = first; step <= last; step += demoLimits.valuesPerRequestMax) {
      const count = Math.min(demoLimits.valuesPerRequestMax, last - step + 1);
      const json = Array.from({ length: count }, (_, index) =>
        datapointAt(sensor, (step + index) * stepMs, stepMs),
      ).filter((datapoint) => datapoint !== undefined);
      if (json.length > 0) await client.need({ method: 'POST', path: `${path}/values`, json }, 204);
      pushed += json.length;
      onProgress(count);
    }
  });
  return pushed;
}

/**
 * Pushes what every sensor of a fleet measures at one instant, and in the time since the values
 * before it; answers the number of values.
 */
export async function pushInstant(
  client: ApiClient,
  fleet: readonly DemoDevice[],
  { instant, spanMs }: { readonly instant: number; readonly spanMs: number | undefined },
): Promise<number> {
  let pushed = 0;
  await inParallel(seriesOf(fleet), demoLimits.requestsInParallel, async ({ path, sensor }) => {
    const json = datapointAt(sensor, instant, spanMs);
    if (json === undefined) return;
    await client.need({ method: 'POST', path: `${path}/value`, json }, 204);
    pushed += 1;
  });
  return pushed;
}

function datapointAt(
  { valueAt }: SensorModel,
  instant: number,
  spanMs: number | undefined,
): object | undefined {
  const value = valueAt(instant, spanMs);
  return value === undefined ? undefined : { value, timestamp: formatTimestamp(instant) };
}
