import { table } from '../table.ts';
import { milliseconds, perSecond } from './figures.ts';
import type { HistoryBenchReport, StoreFigures } from './history-bench.ts';
import { historyLimits } from './history-limits.ts';
import { seriesKinds } from './history-series.ts';
import type { HistoryQuery } from './history-store.ts';

const questions: Readonly<Record<HistoryQuery, string>> = {
  yearByDay: 'all of a sensor by day',
  yearByHour: 'all of a sensor by hour',
  rangeJson: `${historyLimits.rangePoints.toLocaleString('en')} datapoints as JSON`,
  yearCsv: 'all of a sensor as CSV',
  manyByDay: `all of ${historyLimits.crowdSensors} sensors by day`,
  last1: 'the last datapoint',
  last1000: `the last ${historyLimits.lastPoints.toLocaleString('en')}`,
};

/** The report as tables for people. */
export function formatHistoryReport(report: HistoryBenchReport): string {
  const { stores } = report;
  const names = stores.map(({ name }) => name);
  const bytes = (figures: number | undefined): string =>
    figures === undefined ? '–' : figures.toFixed(2);
  const kinds = [
    ...seriesKinds.map(({ name, meaning }) => [name, `${meaning}, in bulk`] as const),
    ...seriesKinds.map(({ name, meaning }) => [`${name}, live`, `${meaning}, one by one`] as const),
    ['many', `steps of 0.01 of ${historyLimits.crowdSensors} sensors, in bulk`] as const,
  ].filter(([key]) => stores.some(({ bytesPerPoint }) => bytesPerPoint.has(key)));
  const space = [
    ['bytes a datapoint, all files', ...names, ''],
    ...kinds.map(([key, text]) => [
      text,
      ...stores.map((s) => bytes(s.bytesPerPoint.get(key))),
      '',
    ]),
    ['all of these together', ...stores.map((s) => bytes(s.bytesPerPointInAll)), ''],
  ];
  const speed = [
    ['median of the rounds', ...names, ''],
    ['stored in bulk', ...stores.map((s) => perSecond(s.bulkPerSecond)), ''],
    ['stored one by one', ...stores.map((s) => perSecond(s.livePerSecond)), ''],
    ...Object.entries(questions).map(([query, text]) => [
      text,
      // The keys are those of the type.
      ...stores.map((s) => answerText(s, query as HistoryQuery)),
      '',
    ]),
  ];
  const missing = ['VictoriaMetrics', 'InfluxDB 1'].filter((name) => !names.includes(name));
  return (
    `${table(space)}\n\n${table(speed)}\n\n` +
    `${report.points.toLocaleString('en')} datapoints in all. Kipimo and InfluxDB sync each ` +
    'request before they answer, VictoriaMetrics does not.\n' +
    (missing.length > 0 ? `Not installed: ${missing.join(', ')}.\n` : '')
  );
}

function answerText({ queries }: StoreFigures, query: HistoryQuery): string {
  const { ms, lines } = queries[query];
  const rows = query === 'yearCsv' ? `, ${perSecond((lines / ms) * 1_000)}` : '';
  return `${milliseconds(ms)}${rows}`;
}
