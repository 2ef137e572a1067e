import assert from 'node:assert/strict';
import { test } from 'node:test';
import { granteeKey, namesIn } from './people.ts';
import { receivedIds } from './received.ts';

test('names are read from a pasted list, each once', () => {
  assert.deepEqual(namesIn(' ama, kofi;esi\r\nAMA\n\n yaw '), ['AMA', 'kofi', 'esi', 'yaw']);
  assert.deepEqual(namesIn(' ,\n'), []);
});

test('a group and a user of one name are two', () => {
  assert.notEqual(granteeKey({ username: 'a' }), granteeKey({ group: 'a' }));
});

test('what is received twice is one thing', () => {
  const received = ['a', 'a', 'b'].map((resource) => ({
    ...{ kind: 'device', resource, owner: 'ama', scopes: [] },
  }));
  assert.deepEqual(receivedIds({ given: [], received }, 'device'), ['a', 'b']);
  assert.deepEqual(receivedIds({ given: [], received }, 'project'), []);
});
