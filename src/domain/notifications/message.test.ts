import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../lib/json.ts';
import { parseDeviceId, parseSensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { fillMessage, fillValue } from './firing.ts';
import { e164 } from './recipients.ts';
import { variablesIn } from './rule.ts';

const values: Readonly<Record<string, JsonValue>> = { TC1: 21.5, name: 'x', long: 'y'.repeat(999) };
const variables = {
  deviceId: parseDeviceId('pump'),
  sensorId: parseSensorId('TC1'),
  value: (id: string) => (Object.hasOwn(values, id) ? values[id] : undefined),
  ...{ measuredAt: Date.UTC(2026, 10, 20, 12), ageMs: 180_061_000 },
};

const fill = (template: string) => fillMessage(template, variables);

test('ids and last values are filled in, and what is unknown stays as it was', () => {
  assert.equal(fill('{id} {TC1} {name}'), 'TC1 21.5 x');
  assert.equal(fill(`$\{id} $\{TC1} $\{no}`), `pump 21.5 $\{no}`);
  assert.equal(fill('{no} {} {{TC1}} {constructor}'), '{no} {} {21.5} {constructor}');
});

test('a message says when it was measured, and how long ago', () => {
  assert.equal(fill('{time} {age}'), '2026-11-20T12:00:00.000Z 2d 2h');
  for (const [ageMs, text] of [
    [0, '0s'],
    [59_999, '59s'],
    [3_600_000, '1h'],
    [90_000, '1m 30s'],
  ]) {
    assert.equal(fillMessage('{age}', { ...variables, ageMs: Number(ageMs) }), text);
  }
  assert.equal(fillMessage('{time}', { ...variables, value: () => 7 }), '7');
});

test('a value in a message is not rounded to the limit beside it', () => {
  const of = (value: JsonValue) =>
    fillMessage('{TC1}, limit 100', { ...variables, value: () => value });
  assert.equal(of(99.996), '99.996, limit 100');
  assert.equal(of(99.99999999999999), '99.99999999999999, limit 100');
  assert.equal(of(100), '100, limit 100');
  assert.equal(of('1.10'), '1.10, limit 100');
  const digits = '99.99999999999999999999';
  assert.equal(of(JSON.rawJSON(digits)), `${digits}, limit 100`);
});

test('values are cut, and what they hold is not filled in again', () => {
  assert.equal(fill('{long}').length, limits.variableCharactersMax);
  assert.equal(fill('{long}'.repeat(100)).length, limits.messageCharactersMax);
  const nested = { ...variables, value: () => '{id}' };
  assert.equal(fillMessage('{TC1}', nested), '{id}');
});

test('a value that is named often is written once, and what would be cut off not at all', () => {
  let written = 0;
  const long = {
    toJSON() {
      written += 1;
      return 'z'.repeat(limits.variableCharactersMax);
    },
  };
  const asked: string[] = [];
  const value = (id: string): JsonValue => {
    asked.push(id);
    return long as unknown as JsonValue;
  };
  const template = `${'{long}'.repeat(limits.messageCharactersMax / 6)}{last}`;
  const message = fillMessage(template, { ...variables, value });
  assert.equal(message.length, limits.messageCharactersMax);
  assert.deepEqual([written, asked], [1, ['long']]);
  fillValue([template, [template], { a: template }], { ...variables, value });
  assert.equal(written, 2);
});

test('every text in a value is filled in, and nothing else is touched', () => {
  const value = { a: ['{TC1}', 1, null], b: { c: '{id}' } };
  assert.deepEqual(fillValue(value, variables), { a: ['21.5', 1, null], b: { c: 'TC1' } });
  assert.deepEqual(variablesIn(value).toSorted(), ['TC1', 'id']);
});

test('telephone numbers lose their decoration and need a country code', () => {
  assert.equal(e164('+233 (20) 123-4567'), '+233201234567');
  assert.equal(e164('00233201234567'), '+233201234567');
  for (const bad of ['0201234567', '+0123456789', '+12', '+1234567890123456', '+23320x', '']) {
    assert.equal(e164(bad), undefined, bad);
  }
});
