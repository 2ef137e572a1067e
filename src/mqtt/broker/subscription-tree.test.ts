import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { payerOfAccount } from '../../domain/budgets/payer.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { isTopicFilter, matchesFilter } from '../../lib/topic-filter.ts';
import { Session } from './session.ts';
import { createSubscriptionTree } from './subscription-tree.ts';

const aSession = (clientId: string): Session =>
  new Session({
    ...{ key: sessionKey('x', clientId), identity: 'x', clientId, expirySeconds: 0 },
    payer: payerOfAccount('x'),
  });

const aSubscription = (filter: string): Subscription => ({
  filter,
  qos: 1,
  noLocal: false,
  retainAsPublished: false,
  retainHandling: 0,
  identifier: 0,
});

const levels = fc.constantFrom('a', 'b', '', '+', '$s');
const filters = fc
  .tuple(fc.array(levels, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([parts, hasHash]) => [...parts, ...(hasHash ? ['#'] : [])].join('/'))
  .filter(isTopicFilter);
const topics = fc
  .array(fc.constantFrom('a', 'b', '', '$s', 'c'), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'))
  .filter((topic) => topic !== '');

test('the tree finds exactly the filters that include the topic, also after some have gone', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(filters, { maxLength: 12 }),
      fc.array(topics, { maxLength: 5 }),
      fc.nat(),
      (all, asked, seed) => {
        const tree = createSubscriptionTree();
        const session = aSession('one');
        for (const filter of all) tree.add(session, aSubscription(filter));
        const kept = all.filter((filter, index) => {
          if ((index + seed) % 3 > 0) return true;
          tree.remove(session, filter);
          return false;
        });
        assert.equal(tree.size, kept.length);
        for (const topic of asked) {
          const found = tree.match(topic).targets.flatMap(({ subscriptions }) => subscriptions);
          const expected = kept.filter((filter) => matchesFilter(filter, topic));
          assert.deepEqual(found.map(({ filter }) => filter).sort(), expected.sort(), topic);
        }
      },
    ),
  );
});

test('overlapping filters of a session are one target, and leave nothing when removed', () => {
  const tree = createSubscriptionTree();
  const one = aSession('one');
  const two = aSession('two');
  for (const filter of ['a/#', 'a/+', 'a/b']) tree.add(one, aSubscription(filter));
  tree.add(two, aSubscription('a/b'));
  const { targets } = tree.match('a/b');
  assert.deepEqual(
    targets.map(({ session, subscriptions }) => [session.clientId, subscriptions.length]),
    [
      ['one', 3],
      ['two', 1],
    ],
  );
  for (const filter of ['a/#', 'a/+', 'a/b']) tree.remove(one, filter);
  tree.remove(two, 'a/b');
  assert.equal(tree.size, 0);
  assert.equal(tree.match('a/b').targets.length, 0);
});

test('the members of a group are one shared target beside those of other groups', () => {
  const tree = createSubscriptionTree();
  for (const name of ['one', 'two']) tree.add(aSession(name), aSubscription('$share/g/a/+'));
  tree.add(aSession('three'), aSubscription('$share/h/a/b'));
  const { targets, shared } = tree.match('a/b');
  assert.equal(targets.length, 0);
  assert.deepEqual(shared.map(({ members }) => members.length).sort(), [1, 2]);
});
