import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { type DashboardSettings, mountDashboard } from './pages.ts';

const settings: Omit<DashboardSettings, 'signup'> = {
  version: '1.2.3',
  tokenLifeSeconds: 600,
  mqttPort: 1883,
};

/** A small dashboard as the build leaves it, behind a server that is asked without a network. */
async function setUp(
  given: Partial<DashboardSettings> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'kipimo-pages-'));
  for (const part of ['assets', 'guides']) mkdirSync(join(folder, part));
  writeFileSync(join(folder, 'index.html'), '<head><!--settings--></head>');
  writeFileSync(join(folder, 'service-worker.js'), 'work();');
  writeFileSync(join(folder, 'assets', 'app-1.js'), 'plain();');
  writeFileSync(join(folder, 'assets', 'app-1.js.br'), 'as brotli');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const fastify = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  fastify.setErrorHandler((_error, _request, reply) => reply.code(404).send('refused'));
  let signUp: 'open' | 'closed' = 'open';
  await mountDashboard(fastify, {
    settings: { ...settings, ...given },
    signUpNow: () => signUp,
    folder,
    isHttpsOnly: false,
  });
  return {
    setSignUp: (now: 'open' | 'closed') => {
      signUp = now;
    },
    // As browsers ask for a page.
    get: (url: string, headers: Record<string, string> = {}) =>
      fastify.inject({ url, headers: { accept: 'text/html,*/*;q=0.8', ...headers } }),
    [Symbol.asyncDispose]: async () => {
      await fastify.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test('every address that is not the service’s own is a screen', async () => {
  await using pages = await setUp();
  for (const url of ['/', '/devices/a.b', '/devices/x/share?a=b', '/apian', '/map/']) {
    const reply = await pages.get(url);
    assert.equal(reply.statusCode, 200, url);
    assert.match(String(reply.headers['content-type']), /^text\/html/, url);
  }
});

test('the service’s own addresses and files that are not there are no screens', async () => {
  await using pages = await setUp();
  const own = [
    '/api/v2/nothing',
    '/docs/x',
    '/metrics/x',
    '/websocket',
    '/mqtt',
    '/update',
    '/write',
  ];
  for (const url of [...own, '/favicon.ico', '/assets/gone.js', '/robots.txt?x=/a', '/a//b']) {
    assert.equal((await pages.get(url)).statusCode, 404, url);
  }
});

test('the page is asked for anew, and allows no script but its own files', async () => {
  await using pages = await setUp();
  const { headers } = await pages.get('/', { host: 'sensors.example.org:8080' });
  assert.equal(headers['cache-control'], 'no-cache');
  assert.equal(headers['x-frame-options'], 'DENY');
  const policy = String(headers['content-security-policy']);
  for (const part of [
    "default-src 'none'",
    "script-src 'self';",
    "style-src 'self';",
    "connect-src 'self' ws://sensors.example.org:8080 wss://sensors.example.org:8080;",
    "frame-ancestors 'none'",
  ]) {
    assert.ok(policy.includes(part), part);
  }
  assert.ok(!policy.includes('unsafe'));
});

test('a host that is none does not get into the policy', async () => {
  await using pages = await setUp();
  for (const host of ["x; script-src 'unsafe-inline'", 'a b', '*']) {
    const policy = String((await pages.get('/', { host })).headers['content-security-policy']);
    assert.ok(policy.includes("connect-src 'self' ;"), host);
  }
});

test('pictures of maps come from the tile server alone', async () => {
  await using plain = await setUp();
  const without = String((await plain.get('/')).headers['content-security-policy']);
  assert.ok(without.includes("img-src 'self' data: blob:;"));
  await using tiled = await setUp({ tileUrl: 'https://{s}.tiles.example.org/{z}/{x}/{y}.png' });
  const policy = String((await tiled.get('/')).headers['content-security-policy']);
  assert.ok(policy.includes("img-src 'self' data: blob: https://*.tiles.example.org;"));
});

test('settings stand in the page as text, whatever is in them', async () => {
  await using pages = await setUp({ tileAttribution: `"><script>alert('$&')</script>` });
  const page = (await pages.get('/')).body;
  assert.ok(!page.includes('<script'));
  const content = /content="([^"]*)"/.exec(page)?.[1] ?? '';
  const text = content.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  assert.equal(JSON.parse(text).tileAttribution, `"><script>alert('$&')</script>`);
});

test('assets may be kept for ever and come compressed as they were built', async () => {
  await using pages = await setUp();
  const plain = await pages.get('/assets/app-1.js');
  assert.equal(plain.body, 'plain();');
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  const small = await pages.get('/assets/app-1.js', { 'accept-encoding': 'gzip, br' });
  assert.equal(small.headers['content-encoding'], 'br');
  assert.equal(small.body, 'as brotli');
});

test('the page says whether sign-up is open now', async () => {
  await using pages = await setUp();
  assert.match((await pages.get('/')).body, /signup&quot;:&quot;open/);
  pages.setSignUp('closed');
  assert.match((await pages.get('/')).body, /signup&quot;:&quot;closed/);
});

test('the page is compressed for those who take it so', async () => {
  await using pages = await setUp();
  const plain = (await pages.get('/')).body;
  const reply = await pages.get('/', { 'accept-encoding': 'br' });
  assert.equal(brotliDecompressSync(reply.rawPayload).toString(), plain);
});

test('the service worker is asked for anew', async () => {
  await using pages = await setUp();
  const reply = await pages.get('/service-worker.js');
  assert.equal(reply.headers['cache-control'], 'no-cache');
  assert.match(String(reply.headers['content-type']), /javascript/);
});

test('of scripts in the page the policy allows the one of the build alone', async () => {
  const script = 'begin("$&");';
  const tileAttribution = '<script>evil()</script>';
  const template = `<head><!--settings--><!--screen--><script>${script}</script></head>`;
  await using pages = await setUp({ tileAttribution }, { 'index.html': template });
  const { headers, body } = await pages.get('/');
  assert.ok(body.includes(`<script>${script}</script>`));
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = String(headers['content-security-policy']);
  assert.ok(policy.includes(`script-src 'self' 'sha256-${hash}';`), policy);
});

test('a page names the files of the screen at its address', async () => {
  const screens = [
    { path: '/devices/:device', files: ['/assets/device.js'], large: ['/assets/chart.js'] },
    { path: '/map', files: ['/assets/map.js'] },
    { path: '/profile/:part?', files: ['/assets/profile.js'] },
  ];
  const template = '<head><!--settings--><!--screen--></head>';
  await using pages = await setUp(
    {},
    {
      ...{ 'index.html': template, 'screens.json': JSON.stringify(screens) },
    },
  );
  const bodyOf = async (url: string) => (await pages.get(url)).body.replaceAll('&quot;', '"');
  assert.match(await bodyOf('/devices/a.b?look=x'), /"files":\["\/assets\/device.js"\],"large"/);
  assert.match(await bodyOf('/map'), /\["\/assets\/map.js"\]/);
  for (const url of ['/profile', '/profile/developers']) {
    assert.match(await bodyOf(url), /profile.js/);
  }
  for (const url of ['/', '/devices/a/share', '/profile/a/b'])
    assert.doesNotMatch(await bodyOf(url), /assets/);
});

test('a page that has not changed is not sent again', async () => {
  await using pages = await setUp();
  const first = await pages.get('/');
  const tag = String(first.headers['etag']);
  const again = await pages.get('/', { 'if-none-match': tag });
  assert.equal(again.statusCode, 304);
  assert.equal(again.body, '');
  // The browser takes the policy of the newer answer.
  const policy = 'content-security-policy';
  assert.equal(again.headers[policy], first.headers[policy]);
  pages.setSignUp('closed');
  assert.equal((await pages.get('/', { 'if-none-match': tag })).statusCode, 200);
});

test('guides are pages of their own, and one that is not there is no screen', async () => {
  await using pages = await setUp(
    {},
    { 'guides/index.html': 'list', 'guides/esp32.html': 'board' },
  );
  for (const [url, body] of [
    ['/guides', 'list'],
    ['/guides/', 'list'],
    ['/guides/esp32', 'board'],
  ] as const) {
    const reply = await pages.get(url);
    assert.deepEqual([reply.statusCode, reply.body], [200, body]);
    assert.match(String(reply.headers['content-type']), /^text\/html/);
    assert.equal(reply.headers['cache-control'], 'no-cache');
    assert.match(String(reply.headers['content-security-policy']), /^default-src 'none';/);
  }
  for (const url of ['/guides/nothing', '/guides/..%2findex', '/guides/%2e%2e%2findex.html']) {
    assert.equal((await pages.get(url)).statusCode, 404, url);
  }
});

test('where nothing was built, the page says how to build it', async () => {
  const fastify = Fastify();
  const empty = mkdtempSync(join(tmpdir(), 'kipimo-pages-'));
  await mountDashboard(fastify, {
    settings,
    signUpNow: () => 'open',
    folder: empty,
    isHttpsOnly: false,
  });
  const headers = { accept: 'text/html' };
  const reply = await fastify.inject({ url: '/anything', headers });
  assert.equal(reply.statusCode, 200);
  assert.match(reply.body, /npm run dashboard/);
  await fastify.close();
  rmSync(empty, { recursive: true });
});
