import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../src/lib/clock.ts';
import { wholeNumber } from '../option-values.ts';
import { abortAtStopSignal } from '../stop-signal.ts';
import { benchLimits } from './bench-limits.ts';
import { historyLimits } from './history-limits.ts';
import type { StoredFigures } from './population.ts';

interface PaceOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly json?: boolean;
}

interface HttpOptions extends PaceOptions {
  readonly connections: readonly number[];
  readonly profile?: true;
}

interface MqttOptions extends PaceOptions {
  readonly connections: number;
}

interface HistoryOptions {
  readonly days: number;
  readonly live: number;
  readonly rest: number;
  readonly rounds: number;
  readonly json?: boolean;
}

/** `kipimo bench`: what a user waits for, as ratios against a server that does nothing. */
export function createBenchCommand(): Command {
  const bench = new Command('bench').description(
    'Measure this machine: the service against a server that does nothing, in one run. ' +
      'docs/benchmarks.md tells how to read it.',
  );
  bench
    .command('http', { isDefault: true })
    .description(
      'Push single values and read devices over HTTP, against a bare Fastify on the same Node; ' +
        'then count that every acknowledged value is stored. Exit code 1 when one is not.',
    )
    .addOption(secondsOption())
    .addOption(roundsOption())
    .addOption(
      new Option('--connections <list>', 'numbers of connections that push')
        .argParser(readConnections)
        .default([64, 256], '64,256'),
    )
    .option(
      '--profile',
      'tell where the time of the service goes under these loads (not on Windows)',
    )
    .option('--json', 'one JSON object instead of the table')
    .action(benchHttp);
  bench
    .command('mqtt')
    .description(
      'Publish single values with QoS 1, deliver them to subscribers, and hold idle connections, ' +
        'beside Mosquitto where it is installed; then count that every acknowledged value is ' +
        'stored. Exit code 1 when one is not.',
    )
    .addOption(secondsOption())
    .addOption(roundsOption())
    .addOption(
      new Option('--connections <n>', 'idle connections to open')
        .argParser(wholeNumber(1, benchLimits.idleConnectionsMax))
        .default(5_000),
    )
    .option('--json', 'one JSON object instead of the table')
    .action(benchMqtt);
  addHistory(bench);
  bench
    .command('no-op', { hidden: true })
    .description('The server that does nothing; "bench http" starts it.')
    .requiredOption('--device <json>', 'the answer to the reading of a device')
    .action(async ({ device }: { readonly device: string }) => {
      const { runNoOpServer } = await import('./no-op-server.ts');
      await runNoOpServer(device);
    });
  addProfiled(bench);
  return bench;
}

function addProfiled(bench: Command): void {
  bench
    .command('profiled <file>', { hidden: true })
    .description('The service, which writes a profile when asked to; "bench http" starts it.')
    .action(async (file: string) => {
      const { runProfiledService } = await import('./profiled-service.ts');
      await runProfiledService(file);
    });
}

function addHistory(bench: Command): void {
  bench
    .command('history')
    .description(
      'Store histories of the kinds that sensors have, in bulk and one by one, and read them, ' +
        'beside VictoriaMetrics and InfluxDB 1 where they are installed.',
    )
    .addOption(
      new Option('--days <n>', 'length of the histories, a datapoint a minute')
        .argParser(wholeNumber(1, historyLimits.daysMax))
        .default(365),
    )
    .addOption(
      new Option('--live <n>', 'datapoints that are pushed one by one, of each of two kinds')
        .argParser(wholeNumber(0, historyLimits.livePointsMax))
        .default(100_000),
    )
    .addOption(
      new Option('--rest <s>', 'seconds between the last push and the look at the disk')
        .argParser(wholeNumber(0, historyLimits.restSecondsMax))
        .default(60),
    )
    .addOption(
      new Option('--rounds <n>', 'how often each query is asked; the first is thrown away')
        .argParser(wholeNumber(2, historyLimits.roundsMax))
        .default(20),
    )
    .option('--json', 'one JSON object instead of the tables')
    .action(benchHistory);
}

/** Until an idle service has given back what it does not need. */
const restMs = 40_000;

async function benchHttp(options: HttpOptions): Promise<void> {
  const { runHttpBench } = await import('./http-bench.ts');
  const { formatHttpReport } = await import('./http-report.ts');
  const { connections, profile: hasProfile = false } = options;
  const report = await runHttpBench({
    ...{ ...runOf(options), connections, hasProfile, restMs },
  });
  print(options.json === true ? JSON.stringify(report) : formatHttpReport(report));
  await requireAllStored(report);
}

async function benchMqtt(options: MqttOptions): Promise<void> {
  const { runMqttBench } = await import('./mqtt-bench.ts');
  const { formatMqttReport } = await import('./mqtt-report.ts');
  const report = await runMqttBench({ ...runOf(options), connections: options.connections });
  print(options.json === true ? JSON.stringify(report) : formatMqttReport(report));
  await requireAllStored(report);
}

async function benchHistory(options: HistoryOptions): Promise<void> {
  const { runHistoryBench } = await import('./history-bench.ts');
  const { formatHistoryReport } = await import('./history-report.ts');
  const { days, rounds } = options;
  const { onStage, signal, clock } = runOf({ seconds: 0, rounds });
  const report = await runHistoryBench({
    ...{ days, rounds, onStage, signal, livePoints: options.live, clock },
    restMs: options.rest * 1_000,
  });
  print(options.json === true ? JSON.stringify(report) : formatHistoryReport(report));
}

async function requireAllStored(report: StoredFigures): Promise<void> {
  const { areAllStored } = await import('./population.ts');
  if (!areAllStored(report)) throw new Error('not every acknowledged value is stored');
}

/** What every measurement needs to know; a signal to stop ends it with all that it started. */
function runOf(options: PaceOptions) {
  return {
    pace: { sliceMs: options.seconds * 1_000, rounds: options.rounds },
    clock: systemClock,
    onStage: (stage: string) => process.stderr.write(`${stage} …\n`),
    signal: abortAtStopSignal(new Error('stopped before the end')),
  };
}

const print = (text: string) => process.stdout.write(`${text.trimEnd()}\n`);

const secondsOption = () =>
  new Option('--seconds <n>', 'length of one slice; both sides take turns')
    .argParser(readSeconds)
    .default(2);

const roundsOption = () =>
  new Option('--rounds <n>', 'slices of each; the first is thrown away')
    .argParser(wholeNumber(2, benchLimits.roundsMax))
    .default(6);

function readSeconds(text: string): number {
  const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 0.05 && seconds <= benchLimits.sliceSecondsMax) return seconds;
  throw new InvalidArgumentError(`it must be 0.05 to ${benchLimits.sliceSecondsMax}.`);
}

function readConnections(text: string): readonly number[] {
  return text.split(',').map(wholeNumber(1, benchLimits.connectionsMax));
}
