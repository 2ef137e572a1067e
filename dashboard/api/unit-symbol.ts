import { unitLabels } from './unit-labels.ts';

/** How a unit is written behind a number: by the vocabulary, else as the sensor says it. */
export function unitSymbol(unit: string | undefined): string {
  if (unit === undefined || unit === '') return '';
  return unitLabels.get(unit) ?? unit;
}
