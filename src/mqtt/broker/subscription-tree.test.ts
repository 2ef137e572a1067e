import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { matchesFilter } from '../../../test/matches-filter.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { isTopicFilter } from '../../lib/topic-filter.ts';
import { Session } from './session.ts';
import {
  createSubscriptionTree,
  type Match,
  type Recipient,
  type Target,
} from './subscription-tree.ts';

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

const recipientsOf = (match: Match): readonly Recipient[] =>
  match.byPayer().flatMap((group) => [...Iterator.from(group.recipients())]);

const targetsOf = (match: Match): readonly Target[] =>
  recipientsOf(match).flatMap((one) => ('session' in one ? [one] : []));

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
          const found = targetsOf(tree.match(topic)).flatMap(({ subscriptions }) => subscriptions);
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
  assert.deepEqual(
    targetsOf(tree.match('a/b')).map(({ session, subscriptions }) => [
      session.clientId,
      subscriptions.length,
    ]),
    [
      ['one', 3],
      ['two', 1],
    ],
  );
  for (const filter of ['a/#', 'a/+', 'a/b']) tree.remove(one, filter);
  tree.remove(two, 'a/b');
  assert.equal(tree.size, 0);
  assert.equal(tree.match('a/b').count, 0);
});

test('the members of a group are one shared target beside those of other groups', () => {
  const tree = createSubscriptionTree();
  for (const name of ['one', 'two']) tree.add(aSession(name), aSubscription('$share/g/a/+'));
  tree.add(aSession('three'), aSubscription('$share/h/a/b'));
  const recipients = recipientsOf(tree.match('a/b'));
  const sizes = recipients.map((one) => ('members' in one ? one.members.length : 0));
  assert.deepEqual(sizes.sort(), [1, 2]);
});

test('sessions that subscribed to everything cost each topic nothing, however many', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const usedBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const tree = createSubscriptionTree();
  for (let at = 0; at < 5_000; at += 1) tree.add(aSession(`${at}`), aSubscription('#'));
  const before = usedBytes();
  for (let at = 0; at < 500; at += 1) tree.match(`devices/d${at}/value`).byPayer();
  const bytesPerTopic = (usedBytes() - before) / 500;
  assert.ok(bytesPerTopic < 16_384, `${bytesPerTopic} bytes`);
});
