import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { quickPhone, slowDown, slowPhone } from '../../scripts/slow-phone.ts';
import { passwordOf } from '../service.ts';
import { browserTest, openStage, type Stage } from './browser.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * So long the farmer waits for the chart, on a processor a quarter as fast as this one. Slowed down
 * it would multiply what others take of it: its work is counted instead, and four times as long.
 */
const chartMsMax = 4_000;
const away = { days: 14, ms: 14 * dayMs };

let stage: Stage;
/** The clock of the service stands two weeks back until the farmer returns. */
let behindMs = away.ms;
before(async () => {
  stage = await openStage({}, { clock: { now: () => Date.now() - behindMs } });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(username: string, method: string, path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as(username)({ method, path, json });
  assert.equal(status, 204, `${method} ${path}: ${text}`);
}

/** A phone that logs in and stays so. */
async function logIn(): Promise<Page> {
  const account = { username: 'kojo', password: passwordOf('kojo') };
  const made = await stage.service.call({ method: 'POST', path: '/users', json: account });
  assert.ok(made.status < 300, made.text);
  const page = await stage.visit({ width: 'phone', hasServiceWorker: true });
  await page.goto('/login');
  await page.getByLabel('Username').fill('kojo');
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.locator('form').getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'kojo' }).waitFor();
  await page.evaluate('navigator.serviceWorker.ready');
  return page;
}

/** What came in while he was away, and with whom the field is shared. */
async function twoWeeksPass(): Promise<void> {
  behindMs = 0;
  await send('kojo', 'POST', '/devices', {
    ...{ id: 'field', name: 'Maize', visibility: 'public' },
    sensors: [{ id: 'SM', name: 'Soil', unit: 'Percent' }],
    actuators: [{ id: 'pump', name: 'Pump', value_type: 'bool', value: false }],
  });
  const hours = away.days * 24;
  const values = Array.from({ length: hours }, (_, hour) => ({
    value: 80 - Math.floor(hour / 6),
    timestamp: new Date(Date.now() - (hours - 1 - hour) * hourMs).toISOString(),
  }));
  await send('kojo', 'POST', '/devices/field/sensors/SM/values', values);
  for (const username of ['yaa', 'stranger']) await stage.service.tokenOf(username);
  const rights = ['devices:view', 'devices-data:view', 'devices-data:create'];
  await send('kojo', 'PUT', '/devices/field/grants/yaa', rights);
}

/** The same phone, as it comes back at the edge of its network. */
async function comeBack(page: Page): Promise<void> {
  await page.evaluate((ms) => {
    const session = JSON.parse(localStorage.getItem('kipimo.session') ?? '{}');
    session.obtainedAt -= ms;
    localStorage.setItem('kipimo.session', JSON.stringify(session));
  }, away.ms);
  await page.addInitScript(watchWords);
  await slowDown(page, quickPhone);
  await page.reload();
}

/** Notes what would be false while the login is renewed, however short it shows. */
const watchWords = `globalThis.said = new Set();
new MutationObserver(() => {
  if (document.querySelector('a[href="/login"], dialog') !== null) said.add('asks to log in');
  if (document.querySelector('main .empty') !== null) said.add('says that there is nothing');
}).observe(document, { subtree: true, childList: true });`;

/** What the main thread of the page works from now on, in milliseconds of the processor. */
async function countWork(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const workMs = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  const before = await workMs();
  return async () => (await workMs()) - before;
}

/** When the cookie that keeps the login ends, in days from now. */
async function cookieDays(page: Page): Promise<number> {
  const cookies = await page.context().cookies(`${stage.service.url}/api/v2/auth/renew`);
  const kept = cookies.find(({ name }) => name === 'kipimo_session');
  assert.ok(kept !== undefined, 'the cookie is gone');
  return (kept.expires * 1_000 - Date.now()) / dayMs;
}

browserTest(
  'a farmer who is back after two weeks switches the pump, and others see who',
  async () => {
    const page = await logIn();
    await twoWeeksPass();
    const renewals: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/auth/renew')) renewals.push(response.status());
    });
    await comeBack(page);
    await page.getByRole('link', { name: 'Maize' }).waitFor();
    const work = await countWork(page);
    const tappedAt = performance.now();
    await page.getByRole('link', { name: 'Maize' }).click();
    await page.locator('.device-chart [aria-busy=false] canvas').first().waitFor();
    const here = performance.now() - tappedAt;
    const paintedMs = here + (slowPhone.cpuRate - quickPhone.cpuRate) * (await work());
    assert.ok(paintedMs <= chartMsMax, `the chart took ${paintedMs} ms`);
    await page.getByRole('link', { name: 'Soil' }).getByText('25').waitFor();
    assert.deepEqual(await page.evaluate('[...said]'), []);
    assert.deepEqual(renewals, [200]);
    assert.ok((await cookieDays(page)) > 29, 'thirty days begin again');
    await page.getByRole('button', { name: 'On for 20 minutes' }).click();
    await page.getByText('Pump is on for 20 minutes').waitFor();
    await page.getByText('You set it').waitFor();
    await page.getByText('not confirmed by the device yet').waitFor();
    await othersSeeWho(page);
    await page.context().close();
  },
);

async function othersSeeWho(page: Page): Promise<void> {
  const worker = await stage.visit({ username: 'yaa', theme: 'dark' });
  await worker.goto('/devices/field');
  await worker.getByText('kojo set it').waitFor();
  assert.equal(await worker.getByRole('switch', { name: 'Pump' }).isChecked(), true);
  const path = '/devices/field/actuators/pump/value';
  await send('kojo', 'PUT', path, { value: true, confirmed: true });
  await worker.reload();
  await worker.getByText('the device confirmed').waitFor();
  await worker.getByRole('switch', { name: 'Pump' }).click();
  await worker.getByText('You set it').waitFor();
  await page.reload();
  await page.getByText('yaa set it').waitFor();

  const stranger = await stage.visit({ username: 'stranger' });
  await stranger.goto('/devices/field');
  await stranger.getByText('Pump').first().waitFor();
  assert.equal(await stranger.getByRole('switch').count(), 0);
  assert.equal(await stranger.getByText('set it').count(), 0);
  for (const visit of [worker, stranger]) await visit.context().close();
}
