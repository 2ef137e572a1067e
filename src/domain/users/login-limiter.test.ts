import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../test/manual-clock.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { limits } from '../limits.ts';
import { createFailureLimiters } from './failure-limiters.ts';
import { createLoginLimiter, type LoginAttempt } from './logins.ts';

/** No counter reads what another one keeps. */
const { failures: store } = await temporaryStorage();

function aLimiter() {
  const clock = createManualClock(0);
  const limiter = createLoginLimiter(createFailureLimiters({ clock, store }));
  return {
    clock,
    limiter,
    fail: (attempt: LoginAttempt, times: number) => {
      for (let time = 0; time < times; time += 1) limiter.failed(attempt);
    },
    isBlocked: (attempt: LoginAttempt) => {
      try {
        limiter.requireUnblocked(attempt);
        return false;
      } catch {
        return true;
      }
    },
  };
}

const at = (network: string, login = 'ana') => ({ login, network });
const known = (network: string, login = 'ana') => ({
  ...at(network, login),
  acquaintance: `network/${network}`,
});

test('failures from one address block that address for the account, and no other', () => {
  const { fail, isBlocked, clock } = aLimiter();
  fail(at('10.0.0.1'), limits.loginFailuresPerUser);
  assert.ok(isBlocked(at('10.0.0.1', 'ANA')));
  assert.ok(!isBlocked(at('10.0.0.2')));
  assert.ok(!isBlocked(at('10.0.0.1', 'bob')));
  clock.advance(limits.loginFailureWindowMs);
  assert.ok(!isBlocked(at('10.0.0.1')));
});

test('invented names block strangers at the address, not those who are known there', () => {
  const { fail, isBlocked } = aLimiter();
  for (let name = 0; name < limits.loginFailuresPerAddress; name += 1) {
    fail(at('10.0.0.1', `nobody-${name}`), 1);
  }
  assert.ok(isBlocked(at('10.0.0.1', 'ana')));
  assert.ok(!isBlocked(known('10.0.0.1', 'ana')));
});

test('guessing from many addresses slows strangers down, and closes the account to nobody', () => {
  const { fail, isBlocked, limiter, clock } = aLimiter();
  assert.equal(limiter.standingOf(at('10.1.0.0')), 'strange');
  for (let address = 0; address < limits.loginFailuresOfStrangers; address += 1) {
    fail(at(`10.1.0.${address}`), 1);
  }
  assert.ok(!isBlocked(at('10.2.0.1')));
  assert.ok(limiter.isSlow(at('10.2.0.1', 'ANA')));
  assert.ok(!limiter.isSlow(at('10.2.0.1', 'bob')));
  assert.ok(!limiter.isSlow(known('10.0.0.1')));
  assert.ok(!limiter.isSlow({ ...at('10.2.0.1'), acquaintance: 'device/n' }));
  assert.equal(limiter.standingOf(at('10.1.0.0')), 'suspect');
  assert.equal(limiter.standingOf(at('10.2.0.1')), 'strange');
  assert.equal(limiter.standingOf(known('10.1.0.0')), 'known');
  clock.advance(limits.loginFailureWindowMs);
  assert.ok(!limiter.isSlow(at('10.2.0.1')));
});

test('guessing from where the owner is known blocks there, but not her browser', () => {
  const { fail, isBlocked, limiter } = aLimiter();
  fail(known('10.0.0.1'), limits.loginFailuresPerUser);
  assert.ok(isBlocked(known('10.0.0.1')));
  assert.ok(!isBlocked({ ...at('10.0.0.1'), acquaintance: 'device/n' }));
  limiter.succeeded(known('10.0.0.1'));
  assert.ok(!isBlocked(known('10.0.0.1')));
});

test('an account of one’s own forgives no failures at other accounts', () => {
  const { fail, isBlocked, limiter } = aLimiter();
  fail(at('10.0.0.1', 'ana'), limits.loginFailuresPerAddress);
  limiter.succeeded(at('10.0.0.1', 'own'));
  assert.ok(isBlocked(at('10.0.0.1', 'bob')));
});
