import { type Preset, presets, type TimeRange } from './ranges.ts';

/** What stretch of time is shown: one of those offered, or an own one. */
export type ChartView =
  | { readonly preset: Preset; readonly range?: undefined }
  | { readonly preset?: undefined; readonly range: TimeRange };

type Query = Readonly<Record<string, string>>;

/** Reads the stretch from the query of an address; what makes no sense is the first one offered. */
export function readChartView({ range = '', from = '', to = '' }: Query, first: Preset): ChartView {
  const preset = presets.find((name) => name === range);
  if (preset !== undefined) return { preset };
  const own = { from: Date.parse(from), to: Date.parse(to) };
  return own.from < own.to ? { range: own } : { preset: first };
}

/** The address of a stretch: the path and what else is in the query stay. */
export function chartViewPath(
  path: string,
  query: Query,
  { view, first }: { readonly view: ChartView; readonly first: Preset },
): string {
  const { range: _range, from: _from, to: _to, ...others } = query;
  const params = new URLSearchParams(others);
  if (view.range !== undefined) {
    params.set('from', secondsText(view.range.from));
    params.set('to', secondsText(view.range.to));
  } else if (view.preset !== first) {
    params.set('range', view.preset);
  }
  // Colons may stand in a query as they are, and are easier to read so.
  const text = params.toString().replaceAll('%3A', ':');
  return text === '' ? path : `${path}?${text}`;
}

const secondsText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
