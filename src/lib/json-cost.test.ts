import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonCostError, type JsonError, jsonCost, parseJson } from './json.ts';

const list = (count: number, each: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => each(n)).join(',');
const costOf = (text: string, isExact = false) => jsonCost(text, Number.POSITIVE_INFINITY, isExact);

test('new keys cost most, those that were seen before little, and numbers next to nothing', () => {
  const keys = costOf(`{${list(10_000, (n) => `"k${n}":1`)}}`);
  const same = costOf(`[${list(10_000, () => '{"key":1}')}]`);
  const numbers = costOf(`[${list(10_000, (n) => `${n}`)}]`);
  assert.ok(keys > 9_000 && keys < 11_000, `${keys}`);
  assert.ok(same < keys / 2, `${same}`);
  assert.ok(numbers < keys / 20, `${numbers}`);
  assert.ok(costOf(`[${list(10_000, (n) => `${n}`)}]`, true) > 10 * numbers);
});

test('what stands in a text is no key, and no end of it', () => {
  const text = `"${'{\\"a\\":[1,2],:'.repeat(1_000)}"`;
  assert.ok(costOf(`{"a":${text}}`) < 5);
});

test('a text that costs too much is refused before it is read, a short one never', () => {
  const refused = (text: string) =>
    assert.throws(() => parseJson(text, 32, 5_000), JsonCostError, text.slice(0, 40));
  refused(`{${list(60_000, (n) => `"k${n}":1`)}}`);
  refused(`[${list(60_000, (n) => `"t${n}"`)}]`);
  refused(`[${list(40_000, (n) => `1234567890123456789${n}`)}]`);
  // Broken at its end: to say where would take as long.
  refused(`{"a":[${list(50_000, () => '{"b":1}')}`);
  assert.deepEqual(parseJson(`[${list(5_000, (n) => `${n}`)}]`, 32, 5_000), [
    ...Array(5_000).keys(),
  ]);
  assert.throws(
    () => parseJson(`{"a":"${'x'.repeat(50_000)}"`, 32, 5_000),
    (error: JsonError) => !(error instanceof JsonCostError) && error.position > 50_000,
  );
});

test('a device with a thousand sensors of usual size, and 64 KiB of notes, are read', () => {
  const sensor = (n: number) =>
    `{"id":"s${n}","name":"Sensor ${n}","sensor_kind":"Temperature","quantity_kind":"Air",` +
    `"unit":"DEG_C","sensing_device":"DHT22","meta":{"row":${n},"place":"bed ${n}"}}`;
  const device = `{"id":"d","sensors":[${list(1_000, sensor)}]}`;
  assert.ok(costOf(device) < 10_000, `${costOf(device)}`);
  assert.ok(costOf(device, true) < 20_000, `${costOf(device, true)}`);
  let notes = '{"k":0';
  for (let n = 0; notes.length < 65_000; n += 1) notes += `,"key${n}":${n}`;
  assert.ok(costOf(`${notes}}`) < 10_000, `${costOf(notes)}`);
});
