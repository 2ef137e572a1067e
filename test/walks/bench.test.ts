import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { runHistoryBench } from '../../tools/bench/history-bench.ts';
import { formatHistoryReport } from '../../tools/bench/history-report.ts';
import { runHttpBench } from '../../tools/bench/http-bench.ts';
import { formatHttpReport } from '../../tools/bench/http-report.ts';
import { runMqttBench } from '../../tools/bench/mqtt-bench.ts';
import { formatMqttReport } from '../../tools/bench/mqtt-report.ts';
import { areAllStored } from '../../tools/bench/population.ts';

test('a benchmark finds every acknowledged value again, and says so', async () => {
  const stages: string[] = [];
  const report = await runHttpBench({
    pace: { sliceMs: 50, rounds: 2 },
    connections: [4],
    restMs: 0,
    clock: systemClock,
    onStage: (stage) => stages.push(stage),
    signal: new AbortController().signal,
    hasProfile: true,
  });
  assert.ok(report.acknowledged > 0);
  assert.equal(report.stored, report.acknowledged);
  assert.ok(areAllStored(report));
  assert.equal(areAllStored({ ...report, stored: report.stored - 1 }), false);
  const text = formatHttpReport(report);
  assert.match(text, /push a value, durable, 4 connections/);
  assert.match(text, /acknowledged, .* stored: all are there/);
  assert.match(text, /busy under pushes[\s\S]* \d+\.\d % [\s\S]*busy under reads of devices/);
  assert.match(text, /\npush a value, durable, one by one .* p50 ≤ the disk's \+ 0\.3 ms [✓✗]/);
  assert.match(text, /\nDisk +a page was written and synced in \d+\.\d+ ms \(p99 /);
  const { ours, disk } = report.lonePush;
  assert.ok(ours.p50Ms > 0 && disk.p50Ms > 0);
  // Of one connection that waits for each answer, the answers are no more than that.
  assert.ok(ours.perSecond * ours.p50Ms < 2_000);
  assert.equal(stages.length, 9);
});

test('what was acknowledged over MQTT is found again, whoever it is compared with', async () => {
  const report = await runMqttBench({
    pace: { sliceMs: 50, rounds: 2 },
    connections: 20,
    clock: systemClock,
    onStage: () => undefined,
    signal: new AbortController().signal,
  });
  assert.ok(report.acknowledged > 0);
  assert.equal(report.stored, report.acknowledged);
  assert.ok(areAllStored(report));
  assert.equal(areAllStored({ ...report, sensorsThatDiffer: 1 }), false);
  assert.ok(report.fanOut.ours.perSecond > 0);
  assert.equal(report.crowd.ours.connections, 20);
  const text = formatMqttReport(report);
  assert.match(text, /publish a value, QoS 1, durable, 20 publishers, window 20/);
  assert.match(
    text,
    /\npublish a value, QoS 1, durable, one by one .* p50 ≤ the disk's \+ 0\.3 ms/,
  );
  assert.match(text, /\na page was written and synced in .*; ours one by one -?\d+\.\d+ ms longer/);
  const linux = /processor time of a publish: ours \d+\.\d µs and \d+\.\d of the generator/;
  assert.match(text, process.platform === 'linux' ? linux : /acknowledged/);
  assert.match(text, report.publish.theirs === undefined ? /not installed/ : /theirs: Mosquitto/);
});

test('histories are stored and read in every store that is installed', async () => {
  const stages: string[] = [];
  const report = await runHistoryBench({
    ...{ days: 1, livePoints: 20, restMs: 0, rounds: 2, clock: systemClock },
    onStage: (stage) => stages.push(stage),
    signal: new AbortController().signal,
  });
  const [ours] = report.stores;
  assert.equal(ours?.name, 'Kipimo');
  // A minute each of five kinds, two of them one by one, and 100 sensors every ten minutes.
  assert.equal(report.points, 5 * 1_440 + 2 * 20 + 100 * 144);
  for (const { queries, bulkPerSecond, livePerSecond } of report.stores) {
    assert.ok(bulkPerSecond > 0 && livePerSecond > 0);
    assert.ok(queries.yearCsv.lines >= 1_440 && queries.yearByDay.ms > 0);
  }
  const text = formatHistoryReport(report);
  assert.match(text, /^bytes a datapoint, all files +Kipimo/);
  assert.match(text, /\ntexts, five of them, in bulk /);
  assert.match(text, /\nall of a sensor as CSV .* ms, [\d,]+\/s/);
  assert.match(text, /21,640 datapoints in all/);
  assert.ok(stages.includes('asking'));
});

test('a benchmark that is stopped leaves with the reason', async () => {
  const stop = new AbortController();
  const run = runHttpBench({
    pace: { sliceMs: 60_000, rounds: 2 },
    connections: [2],
    restMs: 0,
    clock: systemClock,
    onStage: (stage) => {
      if (stage.startsWith('pushing')) stop.abort(new Error('stopped before the end'));
    },
    signal: stop.signal,
  });
  await assert.rejects(run, /stopped before the end/);
});
