import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHttpBench } from '../../src/cli/bench/http-bench.ts';
import { formatHttpReport, isComplete } from '../../src/cli/bench/http-report.ts';
import { systemClock } from '../../src/lib/clock.ts';

test('a benchmark finds every acknowledged value again, and says so', async () => {
  const stages: string[] = [];
  const report = await runHttpBench({
    pace: { sliceMs: 50, rounds: 2 },
    connections: [4],
    clock: systemClock,
    onStage: (stage) => stages.push(stage),
    signal: new AbortController().signal,
  });
  assert.ok(report.acknowledged > 0);
  assert.equal(report.stored, report.acknowledged);
  assert.ok(isComplete(report));
  assert.equal(isComplete({ ...report, stored: report.stored - 1 }), false);
  const text = formatHttpReport(report);
  assert.match(text, /push a value, durable, 4 connections/);
  assert.match(text, /acknowledged, .* stored: all are there/);
  assert.equal(stages.length, 5);
});

test('a benchmark that is stopped leaves with the reason', async () => {
  const stop = new AbortController();
  const run = runHttpBench({
    pace: { sliceMs: 60_000, rounds: 2 },
    connections: [2],
    clock: systemClock,
    onStage: (stage) => {
      if (stage.startsWith('pushing')) stop.abort(new Error('stopped before the end'));
    },
    signal: stop.signal,
  });
  await assert.rejects(run, /stopped before the end/);
});
