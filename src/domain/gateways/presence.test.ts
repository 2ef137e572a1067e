import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayId } from '../ids.ts';
import { createPresence } from './presence.ts';

const gateway = 'g' as GatewayId;

test('a gateway is connected from its first connection to the end of its last', () => {
  const presence = createPresence();
  assert.equal(presence.isConnected(gateway), false);
  const leaveFirst = presence.enter(gateway);
  const leaveSecond = presence.enter(gateway);
  assert.equal(presence.isConnected('other' as GatewayId), false);
  leaveFirst();
  leaveFirst();
  assert.equal(presence.isConnected(gateway), true);
  leaveSecond();
  assert.equal(presence.isConnected(gateway), false);
  leaveFirst();
  presence.enter(gateway);
  assert.equal(presence.isConnected(gateway), true);
});
