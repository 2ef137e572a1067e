import { table } from '../table.ts';
import { mark, milliseconds, perSecond } from './figures.ts';
import { loneRow, loneText } from './lone-report.ts';
import { type Beside, type MqttBenchReport, mqttLoads } from './mqtt-bench.ts';
import type { CrowdFigures } from './mqtt-crowd.ts';
import { storedText } from './population.ts';
import type { Figures } from './rounds.ts';

/** What we want to reach, beside Mosquitto in the same run. */
const targets = {
  publishRatioMin: 3,
  fanOutRatioMin: 3,
  idleBytesMax: 8 * 1_024,
  /** For each thousand connections. */
  openedMsPerThousandMax: 1_000,
} as const;

const head = ['what', 'ours', 'theirs', 'ratio', 'ours p50', 'p99', 'theirs p99', 'target'];

/** The report as a table for people. */
export function formatMqttReport(report: MqttBenchReport): string {
  const { publish, fanOut, crowd, lonePublish } = report;
  const { publishers, window } = mqttLoads.publish;
  const load = mqttLoads.fanOut;
  const rows = [
    head,
    rowOf(
      `publish a value, QoS 1, durable, ${publishers} publishers, window ${window}`,
      publish,
      targets.publishRatioMin,
    ),
    rowOf(
      `deliveries, ${load.publishers} publishers to ${load.subscribers} subscribers`,
      fanOut,
      targets.fanOutRatioMin,
    ),
    crowdRow(crowd),
    loneRow('publish a value, QoS 1, durable, one by one', lonePublish),
  ];
  const beside =
    publish.theirs === undefined
      ? 'Mosquitto is not installed: there is nothing to compare with.'
      : 'theirs: Mosquitto, everything in memory.';
  const costs = [costsText('a publish', publish), costsText('a delivery', fanOut)].join('');
  const said = [beside, costs + loneText(lonePublish), storedText(report, ' values')];
  return `${table(rows)}\n\n${said.join('\n')}\n`;
}

function rowOf(
  what: string,
  { ours, theirs, ratio }: Beside<Figures> & { readonly ratio?: number },
  ratioMin: number,
): readonly string[] {
  return [
    what,
    perSecond(ours.perSecond),
    theirs === undefined ? '' : perSecond(theirs.perSecond),
    ratio === undefined ? '' : ratio.toFixed(2),
    milliseconds(ours.p50Ms),
    milliseconds(ours.p99Ms),
    theirs === undefined ? '' : milliseconds(theirs.p99Ms),
    `ratio ≥ ${ratioMin}${ratio === undefined ? '' : ` ${mark(ratio >= ratioMin)}`}`,
  ];
}

/** Where both sides and the generator share the processors, this says who fills them. */
function costsText(what: string, { ours, theirs }: Beside<Figures>): string {
  const told = [ours, theirs].map((side) => {
    const { serverMicros, generatorMicros } = side?.costs ?? {};
    if (serverMicros === undefined || generatorMicros === undefined) return undefined;
    return `${serverMicros.toFixed(1)} µs and ${generatorMicros.toFixed(1)} of the generator`;
  });
  if (told[0] === undefined) return '';
  const beside = told[1] === undefined ? '' : `; theirs ${told[1]}`;
  return `processor time of ${what}: ours ${told[0]}${beside}\n`;
}

function crowdRow({ ours, theirs }: Beside<CrowdFigures>): readonly string[] {
  const { connections, openedMs, bytesEach } = ours;
  const openedMsMax = (targets.openedMsPerThousandMax * connections) / 1_000;
  const isSmall = bytesEach === undefined || bytesEach <= targets.idleBytesMax;
  return [
    `${connections} idle connections: opened in, memory of each`,
    crowdText(ours),
    theirs === undefined ? '' : crowdText(theirs),
    '',
    '',
    '',
    '',
    `≤ ${openedMsMax / 1_000} s ${mark(openedMs <= openedMsMax)}, ` +
      `≤ ${targets.idleBytesMax / 1_024} KiB ${mark(isSmall)}`,
  ];
}

const crowdText = ({ openedMs, bytesEach }: CrowdFigures): string =>
  `${(openedMs / 1_000).toFixed(1)} s, ` +
  (bytesEach === undefined ? 'unknown' : `${(bytesEach / 1_024).toFixed(1)} KiB`);
