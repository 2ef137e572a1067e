import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invitationFromRow } from './invitations.ts';

const row = {
  ...{ id: 'i', hash: 'h', user_id: 'u', created_at: 1, expires_at: 2, uses_left: 1 },
  is_revoked: 0,
};
const target = { kind: 'device', resource: 'd', scopes: ['devices:view'] };

test('an invitation whose things cannot be understood is a damaged row', () => {
  const { targets } = invitationFromRow({ ...row, details: JSON.stringify({ targets: [target] }) });
  assert.deepEqual(targets, [target]);
  for (const details of [
    '{}',
    '{"targets":7}',
    '{"targets":[null]}',
    '{"targets":["d"]}',
    '{"targets":[{"kind":"device","resource":"d"}]}',
  ]) {
    assert.throws(() => invitationFromRow({ ...row, details }), /no list of things/, details);
  }
});
