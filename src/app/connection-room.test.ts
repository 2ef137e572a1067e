import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { createBudgets } from '../domain/budgets/budgets.ts';
import {
  connectionsOfMachine,
  connectionsOfMemory,
  createConnectionRoom,
} from './connection-room.ts';

/** Guests may have 20 of 40 connections, one address 10. */
function aRoom() {
  const budget = createBudgets({ connections: 40 }).of('connections');
  const ended: string[] = [];
  const room = createConnectionRoom(budget, (address) => address === '10.0.0.1');
  const enter = (address: string, name = address) => room.enter(address, () => ended.push(name));
  const fill = (address: string, count: number) =>
    Array.from({ length: count }, (_, at) => enter(address, `${address} ${at}`));
  return { budget, ended, enter, fill };
}

test('one address has its share, until one of its connections ends', () => {
  const { enter, fill, budget } = aRoom();
  const [first] = fill('192.0.2.1', 10);
  assert.equal(enter('192.0.2.1'), undefined);
  first?.leave();
  first?.leave();
  assert.equal(budget.used, 9);
  assert.notEqual(enter('::ffff:192.0.2.1'), undefined);
  assert.equal(enter('192.0.2.1'), undefined);
});

test('when all is taken, whoever has the most makes room for a new address', () => {
  const { ended, enter, fill, budget } = aRoom();
  fill('192.0.2.1', 10);
  fill('192.0.2.2', 10);
  assert.notEqual(enter('192.0.2.3'), undefined);
  assert.deepEqual(ended, ['192.0.2.1 9']);
  assert.equal(budget.used, 20);
  fill('192.0.2.3', 9);
  // Whoever has nearly as many as all others takes no more from them.
  assert.equal(ended.length, 4);
});

test('loopback counts like any address, and one customer of IPv6 is one', () => {
  const { enter, fill } = aRoom();
  fill('127.0.0.1', 10);
  assert.equal(enter('127.0.0.1'), undefined);
  for (let at = 0; at < 10; at += 1) assert.notEqual(enter(`2001:db8:1:2::${at}`), undefined);
  assert.equal(enter('2001:db8:1:2:3::1'), undefined);
});

test('a trusted proxy may bring half of all, and a connection can move to its client', () => {
  const { enter, fill } = aRoom();
  const [first] = fill('10.0.0.1', 20);
  assert.equal(enter('10.0.0.1'), undefined);
  assert.equal(first?.move('192.0.2.1'), true);
  assert.notEqual(enter('10.0.0.1'), undefined);
  fill('192.0.2.1', 9);
  assert.equal(enter('192.0.2.1'), undefined);
  first?.leave();
  assert.notEqual(enter('192.0.2.1'), undefined);
});

test('there are as many connections as the memory and the files of the machine allow', () => {
  const count = connectionsOfMachine();
  assert.ok(count >= 512 && count <= connectionsOfMemory(totalmem()));
  assert.equal(connectionsOfMemory(512 * 1_048_576), 32_768);
  assert.equal(connectionsOfMemory(1_048_576), 512);
});
