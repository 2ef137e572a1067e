import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieOf, cookieText } from './site.ts';
import { browserNameOf } from './v2/auth.ts';

test('a browser is named as people call it', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [agent, name] of [
    [
      `Mozilla/5.0 (Linux; Android 14) ${webkit} Chrome/126.0 Mobile Safari/537.36`,
      'Chrome on Android',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64) ${webkit} Chrome/126.0 Safari/537.36 Edg/126.0`,
      'Edge on Windows',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604',
      'Safari on iPhone',
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/140.0 Safari/537.36`,
      'Chrome on Linux',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['<script>', 'unknown'],
    [undefined, 'unknown'],
  ] as const) {
    assert.equal(browserNameOf(agent), name, agent);
  }
});

test('a cookie is found by its whole name', () => {
  assert.equal(cookieOf('a=1; kipimo_session=x-y; b=2', 'kipimo_session'), 'x-y');
  assert.equal(cookieOf('xkipimo_session=1;kipimo_session', 'kipimo_session'), undefined);
  assert.equal(cookieOf(undefined, 'a'), undefined);
  const cookie = { name: 'a', value: 'b', path: '/p', ageSeconds: 5, isSecure: true };
  assert.equal(cookieText(cookie), 'a=b; Path=/p; Max-Age=5; HttpOnly; SameSite=Strict; Secure');
});
