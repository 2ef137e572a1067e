import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../lib/json.ts';
import { applyPatch, patchOf } from './patch.ts';

test('a patch sets, keeps and removes keys', () => {
  const patch = patchOf({ b: 2, c: undefined, d: null });
  assert.equal(applyPatch('{"a":1,"b":1,"c":1}', patch), '{"a":1,"b":2,"d":null}');
  assert.equal(applyPatch('{}', patchOf({})), '{}');
});

test('a patch keeps every digit and every text', () => {
  const before = '{"meta":{"n":0.12345678901234567890123},"name":"\\ud800\\u0000"}';
  const digits = parseJson('{"n":98765432109876543210}');
  const after = applyPatch(before, patchOf({ value: digits }));
  const added = ',"value":{"n":98765432109876543210}}';
  assert.equal(after, before.slice(0, -1) + added);
});
