import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlKind, parseControlText, textOfValue } from '../../api/control-value.ts';
import { parseLoosely, typedJson, typedNumber } from '../../api/exact-json.ts';
import { draftPoints, readPoints } from './calibration-draft.ts';
import { csvName, rangeQuery, sizeText } from './csv-range.ts';

test('a control follows the declared type, else the value', () => {
  assert.equal(controlKind({ actuator_value_type: 'bool' }), 'bool');
  assert.equal(controlKind({ actuator_value_type: 'array', value: true }), 'json');
  assert.equal(controlKind({ value: 5 }), 'number');
  assert.equal(controlKind({ value: 'on' }), 'string');
  assert.equal(controlKind({}), 'json');
});

test('numbers are read with point or comma, and nothing else is a number', () => {
  assert.equal(typedNumber(' 21,5 '), 21.5);
  assert.equal(typedNumber('-3e2'), -300);
  for (const text of ['', '1,2,3', '0x10', 'NaN', '1e999', 'five']) {
    assert.equal(typedNumber(text), undefined, text);
  }
});

test('what is typed into a control is of its kind or refused', () => {
  assert.deepEqual(parseControlText('number', '4'), { value: 4 });
  assert.equal(parseControlText('number', 'four'), undefined);
  assert.deepEqual(parseControlText('string', '4'), { value: '4' });
  assert.deepEqual(parseControlText('json', '{"a":[1]}'), { value: { a: [1] } });
  assert.equal(parseControlText('json', '{a'), undefined);
});

test('a control shows what it is set to', () => {
  assert.equal(textOfValue('string', 'open'), 'open');
  assert.equal(textOfValue('number', 5), '5');
  assert.equal(textOfValue('json', { a: 1 }), '{"a":1}');
  assert.equal(textOfValue('json', undefined), '');
});

test('a value that is typed is a number, JSON, or else a text', () => {
  assert.deepEqual(['23,4', 'true', '[1]', 'open', ' "25" '].map(parseLoosely), [
    23.4,
    true,
    [1],
    'open',
    '25',
  ]);
  assert.deepEqual(['23,4', '840380235174088835', 'wet', ' '].map(typedJson), [
    '23.4',
    '840380235174088835',
    '"wet"',
    undefined,
  ]);
});

test('points of a calibration are ordered, and wait until two are whole', () => {
  const points = readPoints([
    { sensor: '10', real: '11,5' },
    { sensor: '', real: '' },
    { sensor: '0', real: '1' },
  ]);
  assert.deepEqual(points, [
    { sensor_value: 0, real_value: 1 },
    { sensor_value: 10, real_value: 11.5 },
  ]);
  assert.equal(readPoints(draftPoints([])), undefined);
  assert.equal(
    readPoints([
      { sensor: '1', real: '1' },
      { sensor: '1', real: '2' },
    ]),
    undefined,
  );
  assert.equal(
    readPoints([
      { sensor: '1', real: '' },
      { sensor: '2', real: '2' },
    ]),
    undefined,
  );
});

test('points that are there are in the form again', () => {
  const points = [
    { sensor_value: 0, real_value: 1 },
    { sensor_value: 5, real_value: 6 },
    { sensor_value: 9, real_value: 9.5 },
  ];
  assert.deepEqual(readPoints(draftPoints(points)), points);
});

test('ranges end now, or with the last of the days chosen', () => {
  const now = Date.parse('2026-06-10T12:00:00Z');
  const none = { now, from: '', to: '', zone: 'Africa/Nairobi' };
  assert.deepEqual(rangeQuery('everything', none), {});
  assert.deepEqual(rangeQuery('week', none), { dateFrom: '2026-06-03T12:00:00.000Z' });
  assert.deepEqual(rangeQuery('own', { ...none, from: '2026-06-01', to: '2026-06-02' }), {
    dateFrom: '2026-05-31T21:00:00.000Z',
    dateTo: '2026-06-02T20:59:59.999Z',
  });
  const changing = { now, from: '2026-10-25', to: '2026-10-25', zone: 'Europe/Berlin' };
  assert.deepEqual(rangeQuery('own', changing), {
    dateFrom: '2026-10-24T22:00:00.000Z',
    dateTo: '2026-10-25T22:59:59.999Z',
  });
  assert.deepEqual(rangeQuery('own', none), {});
});

test('file names are fit for any file system', () => {
  const name = csvName(['a:b*c|d', 'TC'], Date.parse('2026-06-10T12:00:00Z'));
  assert.equal(name, 'a_b_c_d-TC-2026-06-10.csv');
});

test('sizes are told in the unit that fits', () => {
  assert.equal(sizeText(512, 'en'), '512 bytes');
  assert.equal(sizeText(1, 'en'), '1 byte');
  assert.equal(sizeText(512, 'fr'), '512\u00a0octets');
  assert.equal(sizeText(512, 'pt'), '512 bytes');
  assert.equal(sizeText(512, 'sw'), 'baiti 512');
  assert.equal(sizeText(1_900_000, 'en'), '1.9 MB');
  assert.equal(sizeText(45_000, 'en'), '45 kB');
});
