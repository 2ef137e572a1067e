import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { type Steps, stepsOf } from '../../lib/steps.ts';
import type { Actor } from '../actor.ts';
import { limits } from '../limits.ts';
import type { Datapoint } from './datapoint.ts';
import { calibratedDatapoint } from './datapoint.ts';
import { allRows, type SensorRows, toDatapointColumns } from './datapoint-columns.ts';
import type { BriefLastValues, DatapointStore } from './datapoint-store.ts';
import type { ReadParts } from './history.ts';
import { createSourceOpening, type SensorSelection, type Source } from './sensor-selection.ts';

/**
 * The last value of each sensor of the selection that has one, device after device; for those who
 * may view the data of every device named. They are read while the answer is: a large one is a step
 * of its own. Throws not_found when no device has a sensor named.
 */
export type ReadLastValues = (
  actor: Actor,
  selection: SensorSelection & { readonly isCalibrated: boolean },
) => Promise<AsyncIterable<readonly SensorRows[]>>;

export function createReadLastValues(options: Omit<ReadParts, 'pushedDatapoints'>): ReadLastValues {
  const { datapoints, longWork } = options;
  const open = createSourceOpening(options);
  return async (actor, { isCalibrated, ...selection }) => {
    const sources = await longWork.run(actor, (pace, hold) => open(actor, selection, pace, hold));
    const show = (source: Source, raw: Datapoint): SensorRows => {
      const shown = isCalibrated ? calibratedDatapoint(source.sensor, raw) : raw;
      return allRows(source, toDatapointColumns([shown]));
    };
    return lastValueSteps({ sources, datapoints, show, pace: longWork.paceOf(actor) });
  };
}

function lastValueSteps(options: {
  readonly sources: readonly Source[];
  readonly datapoints: Pick<DatapointStore, 'briefLastValues' | 'lastValue'>;
  readonly show: (source: Source, raw: Datapoint) => SensorRows;
  readonly pace: Pace;
}): Steps<readonly SensorRows[]> {
  const { sources, datapoints, show, pace } = options;
  let at = 0;
  let end = 0;
  let brief: BriefLastValues = new Map();

  /** The small ones of the next sensors. */
  async function readBrief(): Promise<void> {
    end = Math.min(sources.length, at + limits.resourcesPerStep);
    const ids = new Set(sources.slice(at, end).map(({ ref }) => ref.deviceId));
    brief = await datapoints.briefLastValues([...ids]);
  }

  return stepsOf(async () => {
    const step: SensorRows[] = [];
    for (; at < sources.length; at += 1) {
      if (at === end && step.length > 0) return step;
      if (at === end) await readBrief();
      if (pace.isOver()) await pace.rest();
      const source = sources[at] as Source;
      const last = brief.get(source.ref.deviceId)?.get(source.ref.sensorId);
      if (last === 'large') {
        if (step.length > 0) return step;
        // Read one large value at a time, over all requests: each may be several megabytes.
        await pace.rest();
        const raw = await datapoints.lastValue(source.ref);
        if (raw === undefined) continue;
        at += 1;
        return [show(source, raw)];
      }
      if (last !== undefined) step.push(show(source, last));
    }
    return step.length > 0 ? step : undefined;
  });
}
