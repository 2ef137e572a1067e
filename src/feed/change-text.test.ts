import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../domain/changes.ts';
import type { DeviceId, ProjectId } from '../domain/ids.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import { changeOfText, textOfChange } from './change-text.ts';

const anything = { kind: 'anything' };

test('a change comes out as it went in', () => {
  const change: Change = { kind: 'device_changed', deviceId: 'Küche ☃' as DeviceId };
  assert.deepEqual(changeOfText(textOfChange(change)), change);
});

test('one that is too long says that anything may have changed', () => {
  const deviceIds = Array.from({ length: 40_000 }, (_, at) => `device-${at}` as DeviceId);
  const projectId = 'p' as ProjectId;
  const change: Change = { kind: 'project_changed', projectId, deviceIds, gatewayIds: [] };
  const text = textOfChange(change);
  assert.ok(text.length <= memberLimits.entryCharactersMax);
  assert.deepEqual(changeOfText(text), anything);
});

test('what this version does not know means that anything may have changed', () => {
  for (const kind of ['invented', 'constructor', '__proto__', 1, null]) {
    assert.deepEqual(changeOfText(JSON.stringify({ kind })), anything);
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      assert.deepEqual(changeOfText(text), anything);
    }),
  );
});
