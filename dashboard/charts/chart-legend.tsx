import type { JSX } from 'preact';
import { formatDate, formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
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
}

/** All sensors with their values at the cursor, or their last ones; a tap hides or shows a line. */
export function ChartLegend(props: {
  readonly entries: readonly LegendEntry[];
  readonly cursor: number | undefined;
  readonly onToggle: (key: string) => void;
}): JSX.Element {
  const { entries, cursor, onToggle } = props;
  return (
    <div class="chart-legend">
      <p class="chart-when number" aria-live="polite">
        {cursor === undefined
          ? ' '
          : formatDate(cursor, { language: language.value, style: 'precise' })}
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
              <span class="legend-name">{entry.name}</span>
              <span class="legend-value number">{valueText(entry, cursor)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function valueText({ columns, unit }: LegendEntry, cursor: number | undefined): string {
  const at = cursor ?? columns.times.at(-1) ?? columns.steps.at(-1)?.at;
  const reading = at === undefined ? undefined : readingAt(columns, at);
  if (reading === undefined) return '–';
  const text = (value: unknown): string => formatValue(value, language.value, t);
  const symbol = unit === '' || typeof reading.value === 'boolean' ? '' : ` ${unit}`;
  const { spread } = reading;
  const around =
    cursor === undefined || spread === undefined || spread.low === spread.high
      ? ''
      : ` (${text(spread.low)} – ${text(spread.high)})`;
  return `${text(reading.value)}${symbol}${around}`;
}
