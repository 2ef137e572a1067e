import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConnectionCount } from './connection-count.ts';

test('one address has as many connections as the limit, until one ends', () => {
  const count = createConnectionCount({ total: 10, perAddress: 2 });
  const leave = count.enter('192.0.2.1');
  assert.ok(leave);
  assert.ok(count.enter('192.0.2.1'));
  assert.equal(count.enter('192.0.2.1'), undefined);
  assert.ok(count.enter('192.0.2.2'));
  leave();
  leave();
  assert.ok(count.enter('192.0.2.1'));
  assert.equal(count.enter('192.0.2.1'), undefined);
});

test('this machine is one address of many, but for the limit of all together', () => {
  const count = createConnectionCount({ total: 4, perAddress: 1 });
  for (const address of ['127.0.0.1', '127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    assert.ok(count.enter(address), address);
  }
  assert.equal(count.enter('127.0.0.1'), undefined);
  assert.equal(count.enter('192.0.2.1'), undefined);
});
