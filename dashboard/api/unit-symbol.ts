import type { Term } from './types.ts';

/** Units met most, so that a first look at a screen does not wait for the vocabulary. */
const usual: Readonly<Record<string, string>> = {
  DegreeCelsius: '°C',
  DegreeFahrenheit: '°F',
  Percent: '%',
  Litre: 'L',
  Volt: 'V',
  Ampere: 'A',
  Watt: 'W',
  Millibar: 'mbar',
  Millimetre: 'mm',
  Centimetre: 'cm',
  Metre: 'm',
};

/** How a unit is written behind a number: by the vocabulary, else as the sensor says it. */
export function unitSymbol(unit: string | undefined, terms: readonly Term[] = []): string {
  if (unit === undefined || unit === '') return '';
  return terms.find(({ id }) => id === unit)?.label ?? usual[unit] ?? unit;
}
