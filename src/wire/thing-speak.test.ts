import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { given, readBulkUpdate, readForm, readUpdate, readUpdateBody } from './thing-speak.ts';

const valuesOf = (parameters: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    [...readUpdate(given(Object.entries(parameters)))].map(([id, field]) => [
      id,
      field instanceof DomainError ? field.code : field.value,
    ]),
  );

test('a field that is a number is one, and any other is a text', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['21.5', 21.5],
    [' 21.50 ', 21.5],
    ['+3', '+3'],
    ['-.5', '-.5'],
    ['5.', '5.'],
    ['0264.342', '0264.342'],
    ['241408E4', '241408E4'],
    ['hot \0', 'hot'],
    ['1e3', 1_000],
    ['1e999', '1e999'],
    ['0x10', '0x10'],
    ['12 V', '12 V'],
    ['true', 'true'],
  ];
  for (const [sent, value] of cases)
    assert.deepEqual(valuesOf({ field1: sent }), { field1: value });
  const long = valuesOf({ field1: '12345678901234567890' });
  assert.equal(JSON.stringify(long), '{"field1":12345678901234567890}');
});

test('a probe that failed takes no other field along', () => {
  assert.deepEqual(valuesOf({ field1: 'nan', field2: '3' }), { field1: 'invalid', field2: 3 });
  assert.throws(() => valuesOf({ field1: 'nan', field2: '-INF' }), /nan is no number/);
});

test('what is empty counts as not sent', () => {
  assert.deepEqual(valuesOf({ field1: '', field2: ' ', field3: '1', lat: '', created_at: '' }), {
    field3: 1,
  });
  assert.throws(() => readUpdate(given([['field1', '']])), /nothing is given/);
});

test('a form and an object say the same', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('field1', 'field8', 'status'), fc.string({ unit: 'grapheme' })),
      (parameters) => {
        const form = readUpdateBody(new URLSearchParams(parameters).toString(), false);
        const object = readUpdateBody(JSON.stringify(parameters), true);
        assert.deepEqual([...form].sort(), [...object].sort());
      },
    ),
  );
});

test('any body is parameters or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), fc.boolean(), (body, isJson) => {
      try {
        readUpdate(readUpdateBody(body, isJson));
      } catch (reason) {
        assert.ok(reason instanceof DomainError);
        assert.equal(reason.code, 'invalid');
      }
    }),
    { numRuns: 500 },
  );
});

test('a long row of digits that is no number is a text', () => {
  const long = `${'9'.repeat(60_000)}x`;
  assert.deepEqual(valuesOf({ field1: long }), { field1: long });
});

test('a form is unescaped byte by byte, and what is no escape stays', () => {
  const form = readForm(Buffer.from('a=%C3%a9+%2B&b=%zz%4%&c=%e9'));
  assert.deepEqual([...form.values()], ['\u00e9 +', '%zz%4%', '\u00e9']);
});

test('a form has so many pairs, and a body so many updates', () => {
  const { formPairsMax, bulkUpdatesMax } = limits;
  const pairs = (count: number) => Buffer.from(Array(count).fill('a=1').join('&'));
  assert.equal(readForm(pairs(formPairsMax)).size, 1);
  assert.throws(() => readForm(pairs(formPairsMax + 1)), /at most 256 pairs/);
  const rows = (count: number) =>
    readBulkUpdate(Buffer.from(`updates=${'1,2|'.repeat(count)}`), false, 0);
  assert.equal(rows(bulkUpdatesMax).updates.length, bulkUpdatesMax);
  assert.throws(() => rows(bulkUpdatesMax + 1), /at most 50000 updates/);
  const objects = (count: number) =>
    readBulkUpdate(Buffer.from(`{"updates":[${Array(count).fill('1').join()}]}`), true, 0);
  assert.equal(objects(bulkUpdatesMax).updates.length, bulkUpdatesMax);
  assert.throws(() => objects(bulkUpdatesMax + 1), /at most 50000 updates/);
});
