import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireEncryption } from './login-options.ts';

test('a password travels without encryption to this machine only', () => {
  const isRefused = (url: string) => {
    try {
      requireEncryption(url, false);
      return false;
    } catch (error) {
      assert.match(String(error), /--allow-http/);
      return true;
    }
  };
  const near = ['http://127.0.0.1:8080', 'http://127.1', 'http://localhost', 'http://[::1]:8080'];
  for (const url of [...near, 'https://example.org', 'http://kipimo.localhost:1']) {
    assert.equal(isRefused(url), false, url);
  }
  const far = ['http://10.0.0.1', 'http://example.org', 'http://localhost.example.org'];
  for (const url of [...far, 'HTTP://128.0.0.1/', 'http://[::2]', 'http://127.0.0.1.example.org']) {
    assert.equal(isRefused(url), true, url);
    assert.doesNotThrow(() => requireEncryption(url, true));
  }
});
