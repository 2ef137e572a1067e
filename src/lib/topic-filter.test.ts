import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchesFilter } from '../../test/matches-filter.ts';
import { countLevels, isTopicFilter, isTopicName, readSharedFilter } from './topic-filter.ts';

test('a plus stands for one level, a hash for all that follow and for their parent', () => {
  const cases: readonly [string, string, boolean][] = [
    ['a/+/c', 'a/b/c', true],
    ['a/+/c', 'a/b/b/c', false],
    ['a/+', 'a', false],
    ['a/+', 'a/', true],
    ['+/+', '/x', true],
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['a/#', 'ab', false],
    ['#', 'a/b', true],
    ['a/b', 'a/b', true],
    ['a/b', 'A/b', false],
  ];
  for (const [filter, topic, expected] of cases) {
    assert.equal(matchesFilter(filter, topic), expected, `${filter} ${topic}`);
  }
});

test('no wildcard at the first level stands for a name with a dollar', () => {
  assert.equal(matchesFilter('#', '$SYS/load'), false);
  assert.equal(matchesFilter('+/load', '$SYS/load'), false);
  assert.equal(matchesFilter('$SYS/#', '$SYS/load'), true);
  assert.equal(matchesFilter('$SYS/+', '$SYS/load'), true);
  assert.equal(matchesFilter('a/+', 'a/$SYS'), true);
});

test('a wildcard within a level, or a hash before the end, is no filter', () => {
  for (const filter of ['a+', 'a/b#', '#/a', 'a/#/b', '', '++']) {
    assert.equal(isTopicFilter(filter), false, filter);
  }
  for (const filter of ['+', '#', '+/a/#', '/', 'a//b', 'a b']) {
    assert.equal(isTopicFilter(filter), true, filter);
  }
  assert.equal(isTopicName('a/+'), false);
  assert.equal(isTopicName(''), false);
});

test('a shared filter names a group and a filter', () => {
  assert.deepEqual(readSharedFilter('$share/g/a/+'), { group: 'g', filter: 'a/+' });
  for (const text of ['$share', '$share/', '$share/g', '$share/g/', '$share/+/a', '$share//a']) {
    assert.equal(readSharedFilter(text), 'invalid', text);
  }
  assert.equal(readSharedFilter('$shared/g/a'), undefined);
});

const level = fc.constantFrom('a', 'b', '', '$c');
const topics = fc.array(level, { minLength: 1, maxLength: 5 }).map((levels) => levels.join('/'));

test('a topic with one level replaced by a plus is matched, and its prefix with a hash', () => {
  fc.assert(
    fc.property(topics, fc.nat(), (topic, pick) => {
      const levels = topic.split('/');
      assert.equal(countLevels(topic), levels.length);
      const at = pick % levels.length;
      const plus = levels.map((text, index) => (index === at ? '+' : text)).join('/');
      const hash = [...levels.slice(0, at), '#'].join('/');
      const isHidden = at === 0 && topic.startsWith('$');
      assert.equal(matchesFilter(plus, topic), !isHidden);
      assert.equal(matchesFilter(hash, topic), !isHidden);
      assert.equal(matchesFilter(topic, topic), true);
    }),
  );
});
