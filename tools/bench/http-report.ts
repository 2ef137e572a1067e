import { table } from '../table.ts';
import { mark, megabytes, milliseconds, perSecond } from './figures.ts';
import type { HttpBenchReport } from './http-bench.ts';
import { loneRow, loneText } from './lone-report.ts';
import { storedText } from './population.ts';
import type { ProfileLine } from './profile.ts';

/** What we want to reach: ratios to the no-op, and what a user waits for. */
const targets = {
  pushRatioMin: 0.9,
  /** Of the no-op's p99. */
  pushP99RatioMax: 2,
  deviceRatioMin: 0.9,
  lastValuesP50Ms: 1,
  readyMs: 1_000,
  idleMegabytes: 100,
  loadedMegabytes: 250,
} as const;

const head = ['what', 'ours', 'no-op', 'ratio', 'ours p50', 'p99', 'no-op p99', 'target'];

/** The report as a table for people. */
export function formatHttpReport(report: HttpBenchReport): string {
  const { pushes, lonePush, deviceReads, lastValues } = report;
  const compared = [
    ...pushes.map((push) => ({
      ...push,
      what: `push a value, durable, ${push.connections} connections`,
      ratioMin: targets.pushRatioMin,
      p99RatioMax: targets.pushP99RatioMax,
    })),
    {
      ...deviceReads,
      what: `read a device, ${deviceReads.connections} connections`,
      ratioMin: targets.deviceRatioMin,
      p99RatioMax: Number.POSITIVE_INFINITY,
    },
  ];
  const rows = [
    head,
    ...compared.map(({ what, ours, noOp, ratio, ratioMin, p99RatioMax }) => [
      what,
      perSecond(ours.perSecond),
      perSecond(noOp.perSecond),
      ratio.toFixed(2),
      milliseconds(ours.p50Ms),
      milliseconds(ours.p99Ms),
      milliseconds(noOp.p99Ms),
      `ratio ≥ ${ratioMin} ${mark(ratio >= ratioMin)}` +
        (p99RatioMax < Number.POSITIVE_INFINITY
          ? `, p99 ≤ ${p99RatioMax} × ${mark(ours.p99Ms <= p99RatioMax * noOp.p99Ms)}`
          : ''),
    ]),
    loneRow('push a value, durable, one by one', lonePush),
    [
      'read the last 100 values, 1 connection',
      perSecond(lastValues.perSecond),
      '',
      '',
      milliseconds(lastValues.p50Ms),
      milliseconds(lastValues.p99Ms),
      '',
      `p50 ≤ ${targets.lastValuesP50Ms} ms ${mark(lastValues.p50Ms <= targets.lastValuesP50Ms)}`,
    ],
  ];
  return `${table(rows)}\n\n${totals(report).join('\n')}\n${profileText(report)}`;
}

function profileText({ profile }: HttpBenchReport): string {
  if (profile === undefined) return '';
  const under = (load: string, lines: readonly ProfileLine[]): string =>
    `\n${table([
      [`where the main thread is busy under ${load}`, 'itself', 'place'],
      ...lines.map(({ part, name, place }) => [name, `${(100 * part).toFixed(1)} %`, place]),
    ])}\n`;
  return under('pushes', profile.pushes) + under('reads of devices', profile.deviceReads);
}

function totals(report: HttpBenchReport): readonly string[] {
  const { readyMs, idleBytes, loadedBytes } = report;
  return [
    `Start to ready   ${Math.round(readyMs)} ms (target ≤ ${targets.readyMs} ms ` +
      `${mark(readyMs <= targets.readyMs)})`,
    `Memory when idle ${megabytes(idleBytes)} (target ≤ ${targets.idleMegabytes} MB ` +
      `${mark((idleBytes ?? 0) <= targets.idleMegabytes * 1e6)}), after the load ` +
      `${megabytes(loadedBytes)} (target ≤ ${targets.loadedMegabytes} MB ` +
      `${mark((loadedBytes ?? 0) <= targets.loadedMegabytes * 1e6)})`,
    `Disk             ${loneText(report.lonePush)}`,
    `Values           ${storedText(report)}`,
  ];
}
