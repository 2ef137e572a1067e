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

/** The ends of a range as the API takes them; own days are whole days of this machine's clock. */
export function rangeQuery(
  range: RangeName,
  options: { readonly now: number; readonly from: string; readonly to: string },
): { readonly dateFrom?: string; readonly dateTo?: string } {
  if (range === 'everything') return {};
  if (range !== 'own') {
    return { dateFrom: new Date(options.now - days[range] * dayMs).toISOString() };
  }
  const from = Date.parse(`${options.from}T00:00:00`);
  const to = Date.parse(`${options.to}T23:59:59.999`);
  return {
    ...(!Number.isNaN(from) && { dateFrom: new Date(from).toISOString() }),
    ...(!Number.isNaN(to) && { dateTo: new Date(to).toISOString() }),
  };
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
    unitDisplay: 'short',
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
