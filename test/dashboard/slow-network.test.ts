import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  const as = stage.service.as('ama');
  const sensors = ['TC', 'SM'].map((id) => ({ id, name: id }));
  const location = { latitude: 6, longitude: 1 };
  const json = { id: 'station', name: 'Station', location, sensors };
  assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  for (const { id } of sensors) {
    const path = `/devices/station/sensors/${id}/values`;
    const start = Date.now() - 1_440 * 60_000;
    const values = Array.from({ length: 1_440 }, (_, index) => ({
      value: 20 + (index % 50) / 10,
      timestamp: new Date(start + (index + 1) * 60_000).toISOString(),
    }));
    assert.equal((await as({ method: 'POST', path, json: values })).status, 204);
  }
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

/** Notes the reads of a page, below /api/v2. */
function readsOf(page: Page): string[] {
  const reads: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/api/v2/')) reads.push(pathname.slice('/api/v2'.length) + search);
  });
  return reads;
}

const drawn = '.chart-place[aria-busy=false] canvas';

browserTest('what a screen shows first is asked for once, before its code is there', async () => {
  for (const [path, shown, count] of [
    ['/', 'a.card', 2],
    ['/map', '.map-mark', 1],
    ['/devices/station', drawn, 2],
  ] as const) {
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    const reads = readsOf(page);
    await page.goto(path);
    await page.locator(shown).first().waitFor();
    assert.equal(await page.evaluate('kipimoEarly.answers.size'), 0, `${path}: some are not used`);
    for (const read of reads.slice(0, count)) {
      // The device itself is asked again once values come live: answered 304.
      const isDevice = read === path;
      const times = reads.filter((other) => other === read).length;
      assert.ok(times === 1 || isDevice, `${path}: ${read} ${times} times`);
    }
    await page.context().close();
  }
});

browserTest(
  'a login that is due is renewed once, and the screen read, before its code',
  async () => {
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    // Past half of its life, as the page reckons: the service would still take the token.
    await page.addInitScript(() => {
      const session = JSON.parse(localStorage.getItem('kipimo.session') ?? '{}');
      if (session.isOld === undefined) {
        const old = { ...session, obtainedAt: Date.now() - 400_000, isOld: true };
        localStorage.setItem('kipimo.session', JSON.stringify(old));
      }
    });
    const reads = readsOf(page);
    const { promise: allAsked, resolve: tellAsked } = Promise.withResolvers<void>();
    page.on('request', (request) => {
      if (request.url().includes('/api/v2/notifications')) tellAsked();
    });
    // The code comes after all of it, or never.
    await page.route(/\/assets\/.*\.js/, (route) => allAsked.then(() => route.continue()));
    await page.goto('/', { waitUntil: 'commit' });
    await page.locator('.card').first().waitFor();
    assert.deepEqual(reads.slice(0, 1), ['/auth/renew']);
    assert.equal(reads.filter((read) => read === '/auth/renew').length, 1, reads.join('\n'));
    assert.equal(reads.filter((read) => read.startsWith('/devices?')).length, 1, reads.join('\n'));
    assert.equal(await page.evaluate('kipimoEarly.answers.size'), 0, 'some are not used');
    await page.context().close();
  },
);

browserTest(
  'a device asks for averages once, and for datapoints when one looks closer',
  async () => {
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    const reads = readsOf(page);
    const histories = () =>
      // What tiles tell of today is one value for each sensor.
      reads.filter((read) => read.startsWith('/sensors_data') && !read.includes('interval=1d'));
    await page.goto('/devices/station');
    await page.locator(drawn).first().waitFor();
    assert.equal(histories().length, 1, histories().join('\n'));
    assert.match(histories()[0] ?? '', /aggregate=avg/);
    for (let times = 0; times < 3; times += 1) {
      const before = histories().length;
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await page.locator(drawn).first().waitFor();
      assert.equal(histories().length, before + 1, 'one request for each look');
    }
    assert.doesNotMatch(histories().at(-1) ?? '', /aggregate/);
    await page.context().close();
  },
);

browserTest('the code of a chart does not keep the frame and the values waiting', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  const order: string[] = [];
  const nameOf = (url: string): string => /\/assets\/([a-z-]+)-\w+\.js$/.exec(url)?.[1] ?? '';
  await page.route(/\/assets\/(app|chunk|device|later-words)-/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await route.continue();
  });
  page.on('request', (request) => order.push(`asked ${nameOf(request.url())}`));
  page.on('requestfinished', (request) => order.push(`came ${nameOf(request.url())}`));
  await page.goto('/devices/station');
  await page.locator(drawn).first().waitFor();
  const asked = order.indexOf('asked sensor-chart');
  const came = order.findIndex((one) => /^came (device|later-words|chunk)$/.test(one));
  assert.ok(came !== -1 && came < asked, order.join('\n'));
  await page.context().close();
});

/** Notes who makes a format, or fails to, while there is no card yet. */
const watchFormats = `globalThis.early = [];
for (const name of ['NumberFormat', 'DateTimeFormat']) {
  Intl[name] = new Proxy(Intl[name], { construct(target, given, newTarget) {
    if (document.querySelector('a.card') === null) early.push(name + new Error().stack);
    return Reflect.construct(target, given, newTarget);
  } });
}`;

browserTest('the first cards wait for no format of numbers or times', async () => {
  for (const language of ['en', 'fr']) {
    const page = await stage.visit({ username: 'ama', width: 'phone', language });
    await page.addInitScript(watchFormats);
    await page.goto('/');
    const card = page.locator('a.card').first();
    await card
      .getByText(language === 'en' ? '23.9' : '23,9')
      .first()
      .waitFor();
    assert.deepEqual(await page.evaluate('early'), []);
    await card.locator('time[title]').waitFor();
    await page.context().close();
  }
});

browserTest('a map that is out of sight is not fetched', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  const scripts: string[] = [];
  page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
  await page.goto('/devices/station');
  await page.locator(drawn).first().waitFor();
  await page.waitForLoadState('networkidle');
  assert.ok(!scripts.some((path) => path.includes('world-outline')), scripts.join('\n'));
  await page.getByRole('heading', { name: 'Where' }).scrollIntoViewIfNeeded();
  await page.locator('.map-mark').waitFor();
  assert.ok(scripts.some((path) => path.includes('world-outline')));
  await page.context().close();
});

browserTest('what has not changed since the last visit is not sent again', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const codes: number[] = [];
  devtools.on('Network.responseReceivedExtraInfo', ({ statusCode }) => codes.push(statusCode));
  await page.goto('/devices/station');
  await page.locator(drawn).first().waitFor();
  const kept = () => codes.filter((code) => code === 304).length;
  const before = kept();
  await page.reload();
  await page.locator(drawn).first().waitFor();
  assert.ok(kept() >= before + 2, codes.join());
  await page.context().close();
});
