import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceTests, selectable } from './several.ts';

test('devices are found by name and by id, in any case', () => {
  const devices = [{ id: 'tank-1', name: 'School tank' }, { id: 'field-3' }];
  const found = (search: string) => selectable(devices, search).map(({ id }) => id);
  assert.deepEqual(found(''), ['tank-1', 'field-3']);
  assert.deepEqual(found(' SCHOOL'), ['tank-1']);
  assert.deepEqual(found('Field'), ['field-3']);
  assert.deepEqual(found('well'), []);
});

test('no more are offered than one can read', () => {
  const many = Array.from({ length: 300 }, (_, index) => ({ id: `d-${index}` }));
  assert.equal(selectable(many, '').length, 200);
  assert.equal(selectable(many, 'd-299').length, 1);
});

test('the owner is asked for as a text, whatever the name holds', () => {
  assert.equal(deviceTests("o'brien").q, "owner=='o''brien'");
});
