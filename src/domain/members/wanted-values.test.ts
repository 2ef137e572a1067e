import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWantedGroups, valueGroupOf, valueGroups } from './wanted-values.ts';

const all = '1'.repeat(valueGroups);
const none = '0'.repeat(valueGroups);
const groupOf = (device: string): string => {
  const group = valueGroupOf(device);
  return `${none.slice(0, group)}1${none.slice(group + 1)}`;
};

/** A commit of this process; answers what it stores. */
function commit(groups: ReturnType<typeof createWantedGroups>): string | undefined {
  const stored = groups.begin();
  groups.made();
  return stored;
}

test('a commit stores what is wanted once, by groups that all versions know', () => {
  assert.deepEqual(['MyDevice', 'field', 'a'].map(valueGroupOf), [66, 122, 97]);
  const groups = createWantedGroups();
  assert.equal(commit(groups), none);
  assert.equal(commit(groups), undefined);
  groups.count(['one', 'one'], 1);
  assert.equal(commit(groups), groupOf('one'));
  groups.count(['one'], -1);
  assert.equal(commit(groups), undefined);
  groups.count(['one'], -1);
  assert.equal(commit(groups), none);
  groups.count(['+'], 1);
  assert.equal(commit(groups), all);
});

test('all values are wanted while a session that was taken is not caught up', () => {
  const groups = createWantedGroups();
  commit(groups);
  groups.behind.add('session');
  assert.equal(commit(groups), all);
  groups.behind.delete('session');
  assert.equal(commit(groups), none);
});

test('what a commit that failed was to store is stored by the next one', () => {
  const groups = createWantedGroups();
  commit(groups);
  groups.count(['one'], 1);
  assert.equal(groups.begin(), groupOf('one'));
  assert.equal(groups.begin(), groupOf('one'));
  groups.made();
  assert.equal(groups.begin(), undefined);
  groups.forget();
  assert.equal(groups.begin(), groupOf('one'), 'of another store');
});

test('values come once the commits have ended that began before they were wanted', async () => {
  const groups = createWantedGroups();
  commit(groups);
  groups.count(['one'], 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const settled = groups.settle(async () => {
    commit(groups);
    await promise;
  });
  assert.equal(groups.areSettled(['one']), false);
  // Wanted while that is under way, and not stored by it.
  groups.count(['other'], 1);
  resolve();
  await settled;
  assert.ok(groups.areSettled(['one']));
  assert.equal(groups.areSettled(['one', 'other']), false);
  groups.count(['other'], -1);
  assert.ok(groups.areSettled(['other']), 'nobody waits for it');
});

test('a group that was given up meanwhile is not there', async () => {
  const groups = createWantedGroups();
  groups.count(['one'], 1);
  await groups.settle(async () => void commit(groups));
  assert.ok(groups.areSettled(['one']));
  groups.count(['one'], -1);
  // The commit that gives it up is under way.
  groups.begin();
  groups.count(['one'], 1);
  assert.equal(groups.areSettled(['one']), false);
  groups.made();
  assert.equal(groups.areSettled(['one']), false);
  // Given up while others end.
  const again = groups.settle(async () => {
    commit(groups);
    groups.count(['one'], -1);
    commit(groups);
    groups.count(['one'], 1);
  });
  await again;
  assert.equal(groups.areSettled(['one']), false);
});

test('a group that was wanted only until its commit began is not there', async () => {
  const groups = createWantedGroups();
  commit(groups);
  groups.count(['one'], 1);
  await groups.settle(async () => {
    groups.count(['one'], -1);
    assert.equal(commit(groups), undefined);
  });
  groups.count(['one'], 1);
  assert.equal(groups.areSettled(['one']), false);
});

test('a subscription to the values of all devices waits for all groups', async () => {
  const groups = createWantedGroups();
  commit(groups);
  groups.count(['+'], 1);
  assert.equal(groups.areSettled(['+']), false);
  await groups.settle(async () => void commit(groups));
  assert.ok(groups.areSettled(['+']));
  groups.count(['one'], 1);
  assert.ok(groups.areSettled(['one']));
});
