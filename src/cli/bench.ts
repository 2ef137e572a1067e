import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../lib/clock.ts';
import { benchLimits } from './bench/bench-limits.ts';
import { wholeNumber } from './option-values.ts';
import { waitForStopSignal } from './stop-signal.ts';

interface HttpOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
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
    .addOption(
      new Option('--seconds <n>', 'length of one slice; ours and the no-op take turns')
        .argParser(readSeconds)
        .default(2),
    )
    .addOption(
      new Option('--rounds <n>', 'slices of each; the first is thrown away')
        .argParser(wholeNumber(2, benchLimits.roundsMax))
        .default(6),
    )
    .addOption(
      new Option('--connections <list>', 'numbers of connections that push')
        .argParser(readConnections)
        .default([64, 256], '64,256'),
    )
    .option('--json', 'one JSON object instead of the table')
    .action(benchHttp);
  bench
    .command('no-op', { hidden: true })
    .description('The server that does nothing; "bench http" starts it.')
    .requiredOption('--device <json>', 'the answer to the reading of a device')
    .action(async ({ device }: { readonly device: string }) => {
      const { runNoOpServer } = await import('./bench/no-op-server.ts');
      await runNoOpServer(device);
    });
  return bench;
}

async function benchHttp(options: HttpOptions): Promise<void> {
  const { runHttpBench } = await import('./bench/http-bench.ts');
  const { formatHttpReport, isComplete } = await import('./bench/http-report.ts');
  const stop = new AbortController();
  void waitForStopSignal({
    signals: process,
    clock: systemClock,
    onImpatience: () => process.exit(1),
  }).then(() => stop.abort(new Error('stopped before the end')));
  const report = await runHttpBench({
    pace: { sliceMs: options.seconds * 1_000, rounds: options.rounds },
    connections: options.connections,
    clock: systemClock,
    onStage: (stage) => process.stderr.write(`${stage} …\n`),
    signal: stop.signal,
  });
  const text = options.json === true ? JSON.stringify(report) : formatHttpReport(report).trimEnd();
  process.stdout.write(`${text}\n`);
  if (!isComplete(report)) throw new Error('not every acknowledged value is stored');
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 0.05 && seconds <= benchLimits.sliceSecondsMax) return seconds;
  throw new InvalidArgumentError(`it must be 0.05 to ${benchLimits.sliceSecondsMax}.`);
}

function readConnections(text: string): readonly number[] {
  return text.split(',').map(wholeNumber(1, benchLimits.connectionsMax));
}
