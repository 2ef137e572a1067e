import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMailAddress } from './mail-address.ts';

test('a mail address is a plain one, and nothing that a mail server would read otherwise', () => {
  for (const text of ['ama@example.org', 'ama+farm@mail.example.org', 'ámá@exämple.org']) {
    assert.ok(isMailAddress(text), text);
  }
  for (const text of [
    ...['ama', '@example.org', 'ama@', 'a@b@c', '<ama@example.org>', 'ama@[127.0.0.1]'],
    ...['a@b.org,c@d.org', '"a b"@c.org', 'a@b.org\r\nBcc: c@d.org', 'a@b.org\0', 'a\x7f@b.org'],
  ]) {
    assert.ok(!isMailAddress(text), JSON.stringify(text));
  }
  assert.ok(!isMailAddress(`a@${'b'.repeat(253)}`));
});
