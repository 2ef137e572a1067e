import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dictionary } from '../i18n/en/dictionary.ts';
import { createGrammar, fillMessage, type Message } from '../i18n/messages.ts';
import { readDays, retentionSentences } from './retention-words.ts';
import type { Retention } from './types.ts';

const now = Date.parse('2026-06-10T15:00:00Z');
const grammar = createGrammar('en');
const words = {
  now,
  language: 'en',
  t: (key: string, params = {}): string => {
    const [section = '', name = ''] = key.split('.');
    const texts = (dictionary as Readonly<Record<string, Readonly<Record<string, Message>>>>)[
      section
    ];
    return fillMessage(texts?.[name] ?? key, grammar, params);
  },
};
const say = (state: Retention): string => retentionSentences(state, words).join(' ');

test('says that all is kept, and where that is set', () => {
  const state = { raw_days: null, hourly_days: null, next: { datapoints: 0 } };
  assert.equal(say({ ...state, source: 'service' }), 'All values are kept for ever.');
  assert.equal(
    say({ ...state, source: 'device' }),
    'All values are kept for ever. This is set for the device.',
  );
});

test('says what goes within an hour, what goes on the next day, and that nothing does', () => {
  const state = { raw_days: 90, hourly_days: 3_650, source: 'user' };
  const begin = (days: number) =>
    new Date(Date.parse('2026-06-10T00:00:00Z') - days * 86_400_000).toISOString();
  const kept =
    'Values are kept for 90 days. Hourly summaries are kept for 3,650 days. ' +
    'This is set for the account of the owner. ';
  assert.equal(
    say({ ...state, next: { datapoints: 1_440, before: begin(90) } }),
    `${kept}1,440 values from before Mar 12, 2026 will be deleted within an hour.`,
  );
  assert.equal(
    say({ ...state, next: { datapoints: 1, before: begin(89) } }),
    `${kept}1 value from before Mar 13, 2026 will be deleted on Jun 11, 2026.`,
  );
  assert.equal(
    say({ ...state, next: { datapoints: 0, before: begin(89) } }),
    `${kept}Nothing is deleted before Jun 11, 2026.`,
  );
});

test('says what is left of older values: hours for ever, or nothing', () => {
  const state = { raw_days: 1, source: 'sensor', next: { datapoints: 0 } };
  const kept = 'Values are kept for 1 day.';
  const where = 'This is set for the sensor.';
  assert.equal(
    say({ ...state, hourly_days: null }),
    `${kept} Hourly summaries are kept for ever. ${where}`,
  );
  assert.equal(say({ ...state, hourly_days: 1 }), `${kept} Nothing older is kept. ${where}`);
});

test('reads days as they are typed', () => {
  assert.deepEqual(
    ['', '  ', '1', ' 90 ', '36500', '36501', '0', '-1', '1.5', '1e3', 'ten', '9999999'].map(
      readDays,
    ),
    [null, null, 1, 90, 36_500, ...Array.from({ length: 7 }, () => undefined)],
  );
});
