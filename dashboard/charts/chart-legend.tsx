import type { JSX } from 'preact';
import { formatDate, formatSpan, formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import { barAt } from './bars.ts';
import { seriesToken } from './colors.ts';
import type { Columns } from './columns.ts';
import { readingAt } from './readout.ts';

/** A sensor in the legend. */
export interface LegendEntry {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly columns: Columns;
  readonly isHidden: boolean;
  /** Bars of sums: the value of one, or all of them together. */
  readonly isBars: boolean;
  /** Of bars: all of the range, as the API computed it. */
  readonly total?: number | undefined;
  /** The value of now, where the range ends now: an average beside the last value would confuse. */
  readonly latest?: unknown;
  /** Limit that an alert compares values with. */
  readonly threshold?: number | undefined;
}

/** All sensors with their values at the cursor, or their last ones; a tap hides or shows a line. */
export function ChartLegend(props: {
  readonly entries: readonly LegendEntry[];
  readonly cursor: number | undefined;
  readonly zone: string;
  readonly onToggle: (key: string) => void;
}): JSX.Element {
  const { entries, cursor, zone, onToggle } = props;
  return (
    <div class="chart-legend">
      <p class="chart-when number" aria-live="polite">
        {cursor === undefined
          ? ' '
          : formatDate(cursor, { language: language.value, style: 'precise', zone })}
      </p>
      <ul class="legend-entries">
        {entries.map((entry, index) => (
          <li key={entry.key}>
            <button
              type="button"
              class={entry.isHidden ? 'legend-entry is-hidden' : 'legend-entry'}
              aria-pressed={!entry.isHidden}
              title={t(entry.isHidden ? 'chart.reveal' : 'chart.hide', { name: entry.name })}
              onClick={() => onToggle(entry.key)}
            >
              <span class="legend-line" style={{ background: `var(${seriesToken(index)})` }} />
              <span class="legend-text">
                <span class="legend-name">{entry.name}</span>
                <span class="legend-value number">{valueText(entry, cursor)}</span>
                <span class="legend-spread number quiet">{spreadText(entry, cursor)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function readingOf({ columns, isBars, total, latest }: LegendEntry, cursor: number | undefined) {
  const hasValues = columns.times.length + columns.steps.length > 0;
  if (!isBars && hasValues && cursor === undefined && latest !== undefined) {
    return { at: 0, value: latest };
  }
  if (isBars) {
    if (cursor !== undefined) return barAt(columns, cursor);
    return total === undefined ? undefined : { at: 0, value: total };
  }
  const at = cursor ?? columns.times.at(-1) ?? columns.steps.at(-1)?.at;
  return at === undefined ? undefined : readingAt(columns, at);
}

function valueText(entry: LegendEntry, cursor: number | undefined): string {
  const reading = readingOf(entry, cursor);
  if (reading === undefined) return '–';
  const symbol = typeof reading.value === 'boolean' ? '' : entry.unit;
  return `${formatValue(reading.value, language.value, t, entry.threshold)} ${symbol}`.trim();
}

/** From the lowest to the highest; a space keeps its line where there is nothing to say. */
function spreadText(entry: LegendEntry, cursor: number | undefined): string {
  const { isBars, columns } = entry;
  if (isBars) {
    return cursor === undefined
      ? t('chart.total')
      : t('chart.inSpan', { span: formatSpan(columns.bucketMs ?? 0, t) });
  }
  const reading = readingOf(entry, cursor);
  if (reading === undefined || !('spread' in reading) || reading.spread === undefined) {
    return '\u00a0';
  }
  const { low, high } = reading.spread;
  const text = (value: number): string => formatValue(value, language.value, t, entry.threshold);
  return `${text(low)} – ${text(high)}`;
}
