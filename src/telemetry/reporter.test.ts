import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, metricsContentType } from './metrics.ts';

function setUp() {
  const metrics = createMetrics();
  return { metrics, reporter: metrics.reporter, metricsText: metrics.metricsText };
}

const route = '/api/v2/devices/:device_id';
const request = { method: 'GET', route, status: 200, durationMs: 7 };

test('requests are counted by method, route and status, with their seconds', async () => {
  const { reporter, metricsText } = setUp();
  reporter.requestAnswered(request);
  reporter.requestAnswered(request);
  reporter.requestAnswered({ ...request, status: 404, durationMs: 300 });
  const text = await metricsText();
  const labels = 'method="GET",route="/api/v2/devices/:device_id",status="200"';
  const name = 'kipimo_request_duration_seconds';
  assert.ok(text.includes(`${name}_bucket{le="0.002",${labels}} 0`), text);
  assert.ok(text.includes(`${name}_bucket{le="0.01",${labels}} 2`));
  assert.ok(text.includes(`${name}_sum{${labels}} 0.014`));
  assert.ok(text.includes(`${name}_count{${labels}} 2`));
  assert.ok(text.includes(`${name}_count{${labels.replace('200', '404')}} 1`));
});

test('a bucket holds what is as long as its bound, and all below it', async () => {
  const { reporter, metricsText } = setUp();
  const name = 'kipimo_commit_duration_seconds';
  assert.match(await metricsText(), new RegExp(`^${name}_count 0$`, 'm'));
  for (const durationMs of [1, 5, 6, 2_000, 60_000]) {
    reporter.commitFinished({ datapoints: 1, durationMs });
  }
  const lines = (await metricsText()).split('\n').filter((line) => line.startsWith(name));
  assert.deepEqual(lines, [
    `${name}_bucket{le="0.001"} 1`,
    `${name}_bucket{le="0.005"} 2`,
    `${name}_bucket{le="0.02"} 3`,
    `${name}_bucket{le="0.1"} 3`,
    `${name}_bucket{le="0.5"} 3`,
    `${name}_bucket{le="2"} 4`,
    `${name}_bucket{le="+Inf"} 5`,
    `${name}_sum 62.012`,
    `${name}_count 5`,
  ]);
});

test('refusals, logins, commits and repeats each have their counter', async () => {
  const { reporter, metricsText } = setUp();
  reporter.requestRefused('forbidden');
  reporter.requestRefused('forbidden');
  reporter.requestRefused('invalid');
  reporter.loginSucceeded();
  reporter.loginFailed();
  reporter.commitFinished({ datapoints: 500, durationMs: 4 });
  reporter.commitFailed();
  reporter.datapointsRepeated(3);
  const text = await metricsText();
  for (const line of [
    'kipimo_refusals_total{code="forbidden"} 2',
    'kipimo_refusals_total{code="invalid"} 1',
    'kipimo_logins_total{outcome="succeeded"} 1',
    'kipimo_logins_total{outcome="failed"} 1',
    'kipimo_datapoints_stored_total 500',
    'kipimo_datapoints_repeated_total 3',
    'kipimo_commit_duration_seconds_count 1',
    'kipimo_commits_failed_total 1',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
});

test('the histogram by route has 250 series at most: strange routes end in one more', async () => {
  const { reporter, metricsText } = setUp();
  for (let index = 0; index < 350; index += 1) {
    reporter.requestAnswered({ ...request, route: `/r${index}` });
  }
  const text = await metricsText();
  assert.match(text, /_count\{method="other",route="other",status="200"\} 100$/m);
  assert.equal(text.match(/^kipimo_request_duration_seconds_count/gm)?.length, 251);
});

test('names and types are as Prometheus wants them: what checks them finds nothing', async () => {
  const { metrics, metricsText } = setUp();
  const budget = {
    name: 'connections',
    unit: 'entries',
    used: 1,
    guests: 0,
    largest: [],
    total: 2,
  } as const;
  metrics.watchBudgets(() => [{ ...budget, refusals: 3 }]);
  const text = await metricsText();
  assert.match(text, /^kipimo_budget_refusals_total\{budget="connections"\} 3$/m);
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  assert.ok(types.length > 30);
  for (const [, name = '', type = ''] of types) {
    assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'));
    assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    assert.doesNotMatch(name, /_(?:milliseconds|minutes|hours|days|kilobytes|bits)(?:_|$)/);
    assert.doesNotMatch(name, /_(?:count|sum|bucket|gauge|counter)$/);
    if (type === 'summary') continue;
    assert.doesNotMatch(text, new RegExp(`^${name}\\{[^}]*quantile=`, 'm'));
  }
});

test('two services in one process do not share their counts', async () => {
  const first = setUp();
  const second = setUp();
  first.reporter.loginFailed();
  assert.match(await first.metricsText(), /outcome="failed"\} 1/);
  assert.doesNotMatch(await second.metricsText(), /outcome="failed"\} 1/);
});

test('the metrics of the process itself are among them, as Prometheus text', async () => {
  const { metricsText } = setUp();
  assert.match(await metricsText(), /^process_cpu_seconds_total /m);
  assert.match(metricsContentType, /^text\/plain; version=0\.0\.4/);
});

test('what retention deleted and kept adds up, and its last round is shown', async () => {
  const { reporter, metricsText } = setUp();
  const round = 'kipimo_retention_last_round_timestamp_seconds';
  assert.ok((await metricsText()).split('\n').includes(`${round} 0`));
  reporter.retentionStepped({ datapoints: 40, hours: 0, hoursKept: 3 });
  reporter.retentionStepped({ datapoints: 2, hours: 7, hoursKept: 1 });
  reporter.retentionRoundEnded(1_767_225_600_500);
  const lines = (await metricsText()).split('\n');
  assert.ok(lines.includes('kipimo_retention_datapoints_deleted_total 42'));
  assert.ok(lines.includes('kipimo_retention_hourly_values_deleted_total 7'));
  assert.ok(lines.includes('kipimo_retention_hourly_values_kept_total 4'));
  assert.ok(lines.includes(`${round} 1767225600.5`));
});

test('chunks that were renewed, are left, or cannot be read are shown as told', async () => {
  const { reporter, metricsText } = setUp();
  reporter.chunksRenewed({ replaced: 3, left: 9, unreadable: 0 });
  reporter.chunksRenewed({ replaced: 5, left: 2, unreadable: 1 });
  const text = await metricsText();
  for (const line of ['renewed_total 5', 'to_look_at 2', 'unreadable 1']) {
    assert.ok(text.includes(`\nkipimo_chunks_${line}\n`), text);
  }
});
