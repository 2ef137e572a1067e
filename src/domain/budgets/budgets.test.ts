import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../errors.ts';
import { Budget, type BudgetRule, networkOf, payerAt, payerOfAccount } from './budget.ts';
import { budgetTable } from './budget-table.ts';
import { createBudgets, isBudgetName } from './budgets.ts';

const rule: BudgetRule = {
  what: 'things',
  unit: 'entries',
  total: 100,
  perAccount: 50,
  perAddress: 20,
  guests: 40,
  floor: 2,
  answer: 'count',
  refused: '403',
};
const ann = payerOfAccount('ann');
const ben = payerOfAccount('ben');

test('one account gets its share and no more', () => {
  const budget = new Budget('things', rule);
  assert.equal(budget.take(ann, 50), undefined);
  assert.deepEqual(budget.take(ann, 1), { budget: 'things', scope: 'own', used: 50, max: 50 });
  assert.equal(budget.take(ben, 50), undefined);
  budget.release(ann, 10);
  assert.equal(budget.usedBy(ann), 40);
  assert.equal(budget.used, 90);
});

test('all guests together have a share of their own', () => {
  const budget = new Budget('things', rule);
  assert.equal(budget.take(payerAt('10.0.0.1'), 20), undefined);
  assert.equal(budget.take(payerAt('10.0.0.1'), 1)?.scope, 'own');
  assert.equal(budget.take(payerAt('10.0.0.2'), 20), undefined);
  assert.equal(budget.take(payerAt('10.0.0.3'), 1)?.scope, 'guests');
  assert.equal(budget.take(ann, 50), undefined);
});

test('a full total refuses strangers and those who have much, not who needs little', () => {
  const budget = new Budget('things', rule);
  budget.add(ann, 50);
  budget.add(ben, 50);
  assert.equal(budget.take(payerOfAccount('carol'), 2), undefined);
  assert.equal(budget.take(payerOfAccount('carol'), 1)?.scope, 'total');
  assert.equal(budget.take(payerAt('10.0.0.1'), 1)?.scope, 'total');
});

test('a refusal names the budget and who may raise it', () => {
  const budget = new Budget('things', rule);
  assert.throws(
    () => budget.takeOrThrow(ann, 51),
    (error) =>
      error instanceof DomainError &&
      error.code === 'limit_reached' &&
      /"things".*administrator|administrator.*"things"/.test(error.message),
  );
  assert.equal(budget.refusals, 1);
  assert.equal(budget.used, 0);
});

test('an IPv6 customer is one payer, and an IPv4 address is one in both spellings', () => {
  assert.equal(networkOf('::ffff:127.0.0.1'), '127.0.0.1');
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:0DB8:1:2::9'));
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'));
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
});

test('no identity has more than half of any total', () => {
  for (const [name, { total, perAccount, perAddress, guests }] of Object.entries(budgetTable)) {
    assert.ok(perAccount * 2 <= total, name);
    assert.ok(perAddress <= guests, name);
    assert.ok(guests * 2 <= total, name);
  }
});

test('a total that is set changes the shares in proportion', () => {
  const budget = createBudgets({ connections: 400 }).of('connections');
  assert.equal(budget.rule.total, 400);
  assert.equal(budget.rule.perAddress, 100);
  assert.ok(!isBudgetName('constructor'));
});
