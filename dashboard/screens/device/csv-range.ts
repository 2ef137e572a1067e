import { fromZoneText } from '../../charts/zone.ts';

/** How far back a file of values goes. */
export type RangeName = 'day' | 'week' | 'month' | 'year' | 'everything' | 'own';

export const rangeNames: readonly RangeName[] = [
  'day',
  'week',
  'month',
  'year',
  'everything',
  'own',
];

const dayMs = 86_400_000;
const days = { day: 1, week: 7, month: 30, year: 365 } as const;

/** The ends of a range as the API takes them; own days are whole days of the zone. */
export function rangeQuery(
  range: RangeName,
  options: {
    readonly now: number;
    readonly from: string;
    readonly to: string;
    readonly zone: string;
  },
): { readonly dateFrom?: string; readonly dateTo?: string } {
  if (range === 'everything') return {};
  if (range !== 'own') {
    return { dateFrom: new Date(options.now - days[range] * dayMs).toISOString() };
  }
  const from = midnight(options.from, options.zone);
  const after = midnight(dayAfter(options.to), options.zone);
  return {
    ...(from !== undefined && { dateFrom: new Date(from).toISOString() }),
    ...(after !== undefined && { dateTo: new Date(after - 1).toISOString() }),
  };
}

const midnight = (day: string, zone: string): number | undefined =>
  day === '' ? undefined : fromZoneText(`${day}T00:00`, zone);

function dayAfter(day: string): string {
  const at = Date.parse(`${day}T00:00Z`);
  return Number.isNaN(at) ? '' : new Date(at + dayMs).toISOString().slice(0, 10);
}

/** A number of bytes as people read it. */
export function sizeText(bytes: number, language: string): string {
  const [unit, size] =
    bytes < 1_000
      ? ['byte', bytes]
      : bytes < 1e6
        ? ['kilobyte', bytes / 1e3]
        : ['megabyte', bytes / 1e6];
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: String(unit),
    // The short form of bytes has no plural in English.
    unitDisplay: unit === 'byte' ? 'long' : 'short',
    maximumFractionDigits: size < 10 && unit !== 'byte' ? 1 : 0,
  }).format(Number(size));
}

/** A file name made of ids, with nothing in it that a file system minds. */
export function csvName(parts: readonly string[], now: number): string {
  const date = new Date(now).toISOString().slice(0, 10);
  return `${[...parts, date]
    .join('-')
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .slice(0, 120)}.csv`;
}
