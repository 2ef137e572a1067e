import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentReporter } from '../domain/reporter.ts';
import { createDamagedRows } from '../storage/faults.ts';
import { createPinoLog } from './pino-log.ts';

function record(level: Parameters<typeof createPinoLog>[0]['level']) {
  const lines: string[] = [];
  const log = createPinoLog({ level, output: { write: (line) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
}

test('a line is one JSON object with level, time, message and fields', () => {
  const { log, lines, last } = record('info');
  log.warn({ channel: 'sms', attempt: 2 }, 'delivery will be retried');
  assert.equal(lines.length, 1);
  assert.ok(lines[0]?.endsWith('}\n'));
  const { time, ...rest } = last();
  assert.deepEqual(rest, {
    level: 'warn',
    channel: 'sms',
    attempt: 2,
    msg: 'delivery will be retried',
  });
  assert.equal(new Date(time).toISOString(), time);
});

test('fields named after a secret are blotted at every depth, in every spelling', () => {
  const { log, lines } = record('info');
  log.error(
    {
      password: 's3cret',
      accessToken: 's3cret',
      api_key: 's3cret',
      headers: { Authorization: 'Bearer s3cret' },
      users: [{ email: 's3cret', phone: ['s3cret'], address: { phones: 's3cret' } }],
      keys: 's3cret',
    },
    'request failed',
  );
  assert.ok(!lines.join().includes('s3cret'));
  assert.equal(lines.join().split('[redacted]').length - 1, 8);
});

test('names that only sound like a secret stay readable', () => {
  const { log, last } = record('info');
  log.info({ keyboard: 'de', monkey: 1, tokenizer: 'x', deviceId: 'D1' }, 'x');
  const { keyboard, monkey, tokenizer, deviceId } = last();
  assert.deepEqual([keyboard, monkey, tokenizer, deviceId], ['de', 1, 'x', 'D1']);
});

test('an error is written with its message, stack and causes', () => {
  const { log, last } = record('info');
  log.error({ err: new Error('outer', { cause: new Error('disk full') }) }, 'append failed');
  assert.equal(last().err.message, 'outer');
  assert.match(last().err.stack, /pino-log\.test/);
  assert.equal(last().err.cause.message, 'disk full');
});

test('lines below the level are left out, and silent writes nothing', () => {
  const warn = record('warn');
  warn.log.info({}, 'not this');
  warn.log.debug({}, 'nor this');
  warn.log.warn({}, 'this');
  assert.equal(warn.lines.length, 1);
  const silent = record('silent');
  silent.log.error({}, 'not even this');
  assert.deepEqual(silent.lines, []);
});

test('a field that contains itself ends instead of hanging the service', () => {
  const { log, lines } = record('info');
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  log.info({ loop }, 'x');
  assert.match(lines[0] ?? '', /\[deeper\]/);
});

test('a row that is set aside is named by its table and its key', () => {
  const { log, last } = record('info');
  createDamagedRows({ log, reporter: silentReporter }).note('devices', 'pond 7', new Error('x'));
  const { table, row, reason } = last();
  assert.deepEqual({ table, row, reason }, { table: 'devices', row: 'pond 7', reason: 'x' });
});
