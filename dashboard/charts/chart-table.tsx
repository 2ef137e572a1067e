import type { JSX } from 'preact';
import { formatDate, formatValue } from '../i18n/formats.ts';
import { language, t } from '../i18n/i18n.ts';
import { chartLimits } from './chart-limits.ts';
import type { Columns } from './columns.ts';
import { instantsOf, readingAtExactly } from './readout.ts';

/** A column of the table. */
export interface TableColumn {
  readonly name: string;
  readonly unit: string;
  readonly columns: Columns;
  readonly threshold?: number | undefined;
}

/** The same data as the chart in rows, newest first: for screen readers and for copying. */
export function ChartTable({
  sensors,
  zone,
}: {
  readonly sensors: readonly TableColumn[];
  readonly zone: string;
}): JSX.Element {
  const instants = instantsOf(sensors.map(({ columns }) => columns));
  const shown = instants.slice(-chartLimits.tableRowsMax).reverse();
  const shownLanguage = language.value;
  return (
    <div class="stack-tight">
      {instants.length > shown.length && (
        <p class="small quiet">{t('chart.tooManyRows', { count: shown.length })}</p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reachable. */}
      <section class="chart-table" tabIndex={0} aria-label={t('chart.asTable')}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t('chart.time')}</th>
              {sensors.map(({ name, unit }, index) => (
                <th scope="col" key={index}>
                  {unit === '' ? name : `${name} (${unit})`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((at) => (
              <tr key={at}>
                <th scope="row">
                  {formatDate(at, { language: shownLanguage, style: 'precise', zone })}
                </th>
                {sensors.map(({ columns, threshold }, index) => {
                  const reading = readingAtExactly(columns, at);
                  return (
                    <td key={index} class="number">
                      {reading === undefined
                        ? ''
                        : formatValue(reading.value, shownLanguage, t, threshold)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
