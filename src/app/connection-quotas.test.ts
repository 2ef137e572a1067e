import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { createBudgets } from '../domain/budgets/budgets.ts';
import {
  connectionsOfMachine,
  connectionsOfMemory,
  createConnectionQuotas,
} from './connection-quotas.ts';

/** Guests may have 20 of 40 connections, one address 10. */
function aRoom() {
  const budget = createBudgets({ connections: 40 }).of('connections');
  const ended: string[] = [];
  const said = new Map<string, number>();
  const room = createConnectionQuotas(budget, (address) => address === '10.0.0.1');
  const enter = (address: string, name = address) =>
    room.enter(address, { end: () => ended.push(name), heard: () => said.get(name) ?? 0 });
  /** Something came on the connection of this name. */
  const speak = (name: string) => said.set(name, (said.get(name) ?? 0) + 1);
  const fill = (address: string, count: number) =>
    Array.from({ length: count }, (_, at) => enter(address, `${address} ${at}`));
  return { budget, ended, enter, fill, speak };
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

test('where guests have all, the one that is silent for longest makes room', () => {
  const { ended, enter, fill, budget, speak } = aRoom();
  for (let at = 1; at <= 12; at += 1) enter(`192.0.2.${at}`);
  fill('198.51.100.1', 8);
  speak('192.0.2.1');
  speak('192.0.2.3');
  assert.notEqual(enter('203.0.113.1'), undefined);
  assert.notEqual(enter('203.0.113.2'), undefined);
  assert.notEqual(enter('203.0.113.3'), undefined);
  assert.deepEqual(ended, ['192.0.2.2', '192.0.2.4', '192.0.2.5']);
  assert.equal(budget.used, 20);
  // Where all speak, one connection ends all the same.
  for (let at = 0; at < 200; at += 1) {
    for (let one = 1; one <= 12; one += 1) speak(`192.0.2.${one}`);
    assert.notEqual(enter(`203.0.113.${10 + at}`), undefined);
  }
  assert.equal(budget.used, 20);
});

test('a connection that has logged in counts for its account, not for guests', () => {
  const { ended, enter, fill, budget } = aRoom();
  const [first, second] = fill('192.0.2.1', 10);
  first?.logIn('account/ama');
  second?.logIn('account/ama');
  assert.equal(budget.usedBy('account/ama'), 2);
  assert.equal(budget.usedByGuests, 8);
  // No guest takes its place, and it may become another account's.
  for (let at = 0; at < 60; at += 1) enter(`198.51.100.${at}`);
  assert.ok(!ended.includes('192.0.2.1 0') && !ended.includes('192.0.2.1 1'));
  second?.logIn('account/kofi');
  first?.logIn('address/192.0.2.1');
  assert.deepEqual([budget.usedBy('account/ama'), budget.usedBy('account/kofi')], [1, 1]);
  first?.leave();
  second?.leave();
  first?.logIn('account/ama');
  assert.equal(budget.usedBy('account/ama'), 0);
  assert.equal(budget.used, 20);
});

test('an account has its share; what it opens beyond that counts as a guest', () => {
  const { ended, enter, budget } = aRoom();
  const logIn = (name: string, count: number) => {
    for (let at = 0; at < count; at += 1) enter(`192.0.2.${at}`)?.logIn(`account/${name}`);
  };
  logIn('ama', 25);
  assert.equal(budget.usedBy('account/ama'), 20);
  assert.equal(budget.usedByGuests, 5);
  // Many accounts leave a part of the guests' quota to newcomers.
  logIn('kofi', 19);
  logIn('esi', 19);
  assert.ok(budget.usedByGuests >= 5, `${budget.usedByGuests}`);
  assert.ok(budget.usedBy('account/esi') >= 6, `${budget.usedBy('account/esi')}`);
  assert.ok(budget.used <= 40);
  assert.ok(ended.length > 0);
});

test('connections of a proxy stay its own, whoever logs in on them', () => {
  const { enter, budget } = aRoom();
  enter('10.0.0.1')?.logIn('account/ama');
  assert.equal(budget.usedBy('account/ama'), 0);
  assert.equal(budget.usedBy('account/proxy 10.0.0.1'), 1);
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
