import { numberOf } from '../i18n/formats.ts';
import { isAmountKind } from './sensor-shape.ts';
import type { Sensor } from './types.ts';

export type Measures = NonNullable<Sensor['measures']>;

/** Aggregates of all values of a sensor, as those of a read without an interval. */
export interface WholeHistory {
  readonly count?: number;
  readonly min?: number;
  readonly max?: number;
  readonly first?: unknown;
  readonly last?: unknown;
  readonly increase?: number;
}

export const wholeAggregates = 'count,min,max,first,last,increase';

/** With fewer values a rain gauge that only rose may have done so by chance. */
const tellingMin = 20;
/** As often a meter of more than a few values may have begun again. */
const restartsMax = 2;
const fewValues = 10;

/** Whether nobody said what a sensor measures though its totals depend on it. */
export const isUnsaid = (sensor: Sensor): boolean =>
  sensor.measures === undefined && isAmountKind(sensor);

/**
 * The guess for a sensor whose `measures` is absent: by its quantity kind and all of its values.
 * Energy whose values hardly ever fall is a meter, and so is rain that never does.
 */
export function assumed(sensor: Sensor, whole: WholeHistory | undefined): Measures {
  const { count = 0, max = 0, increase = 0 } = whole ?? {};
  const [first, last] = [numberOf(whole?.first) ?? 0, numberOf(whole?.last) ?? 0];
  if (/rain|precipitation/i.test(`${sensor.quantity_kind} ${sensor.sensing_device}`)) {
    const onlyRises = last > first && increase === Number((last - first).toPrecision(12));
    return onlyRises && count >= tellingMin ? 'counter' : 'amount';
  }
  // Each restart takes what the meter showed before it, which is the most at most.
  const lost = increase - (last - first);
  const allowed = count < fewValues ? 0 : restartsMax * max;
  return lost <= allowed + 1e-9 * Math.abs(max) ? 'counter' : 'amount';
}
