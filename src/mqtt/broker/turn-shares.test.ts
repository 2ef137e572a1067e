import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payer } from '../../domain/budgets/payer.ts';
import { createTurnShares } from './turn-shares.ts';

const guest = (at: number): Payer => `address/10.0.0.${at}`;

test('guests use up the share of all guests, and no account waits behind them', async () => {
  const shares = createTurnShares({ own: 10, ofAll: 20, least: 0.5 });
  for (let at = 0; at < 4; at += 1) shares.spend(guest(at), 6);
  assert.ok(shares.isSpent(guest(99)));
  assert.equal(shares.isSpent('account/1'), false);
  shares.spend('account/1', 12);
  assert.ok(shares.isSpent('account/1'));
  assert.equal(shares.isSpent('account/2'), false);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shares.isSpent(guest(99)), false);
  assert.equal(shares.isSpent('account/1'), false);
});
