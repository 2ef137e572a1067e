// In a process of its own: it changes the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payer } from '../../domain/budgets/budget.ts';
import { createHandOnShares, createTurnShares, placesOfRecipient } from './slices.ts';

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

test('small amounts of thousands of connections count for all guests together', async () => {
  const shares = createTurnShares({ own: 10, ofAll: 20, least: 0.5 });
  for (let at = 0; at < 50; at += 1) shares.spend(guest(at), 0.45);
  assert.ok(shares.isSpent(guest(99)));
  assert.equal(shares.isSpent('account/1'), false);
  await turn();
  assert.equal(shares.isSpent(guest(99)), false);
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const nothing = (): void => undefined;

test('guests have a share of each turn together, and no account waits behind them', async () => {
  const shares = createHandOnShares();
  for (let at = 0; at < 12; at += 1) shares.spend(guest(at), 2_500);
  assert.ok(shares.mustWait({ payer: guest(99), goOn: nothing }));
  assert.equal(shares.mustWait({ payer: 'account/1', goOn: nothing }), false);
  await turn();
  await turn();
  assert.equal(shares.mustWait({ payer: guest(98), goOn: nothing }), false);
});

test('what is handed on counts by its bytes, for who pays for the message', async () => {
  const shares = createHandOnShares();
  // A message of 30 KB for 200 subscribers is copied 200 times.
  shares.spend(guest(1), 200 * placesOfRecipient(30_000));
  assert.ok(shares.isSpent(guest(1)));
  assert.equal(shares.isSpent(guest(2)), false);
  shares.spend(guest(2), 200 * placesOfRecipient(30_000));
  assert.ok(shares.isSpent(guest(3)), 'guests have a share together');
  assert.equal(shares.isSpent('account/1'), false);
  await shares.turnOf(guest(1));
  assert.equal(shares.isSpent(guest(1)), false);
});

test('thousands that wait, each of another payer, are handed on a few in each turn', async (t) => {
  const shares = createHandOnShares();
  shares.spend(guest(0), 30_000);
  let [begun, most] = [0, 0];
  // Each reading of the clock is 2 ms later.
  let now = performance.now();
  t.mock.method(performance, 'now', () => {
    now += 2;
    return now;
  });
  for (let at = 1; at <= 200; at += 1) {
    const waiting = {
      payer: guest(at),
      goOn() {
        if (shares.mustWait(waiting)) return;
        shares.spend(waiting.payer, 2_500);
        begun += 1;
      },
    };
    assert.ok(shares.mustWait(waiting));
    // What waits already keeps its place.
    assert.ok(shares.mustWait(waiting));
  }
  for (let turns = 0; begun < 200; turns += 1) {
    assert.ok(turns < 1_000, `${begun} were handed on`);
    const before = begun;
    await turn();
    most = Math.max(most, begun - before);
  }
  assert.ok(most < 10, `${most} were handed on in one turn`);
});
