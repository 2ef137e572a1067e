// Measures the dashboard in a real browser against the real app: node scripts/dashboard-speed.ts
// With --phone alone: the screens that a phone at the edge of its network must have soon, each five
// times; nothing else may be busy, or say more by RUNS=15 (the quickest is disturbed least).
import type { Page } from 'playwright-core';
import { openStage, type Stage, type Visit } from '../test/dashboard/browser.ts';
import { measureSlowPhone } from './slow-phone.ts';

const username = 'ama';
const minuteMs = 60_000;
const yearMinutes = 525_600;
const batchValues = 20_000;
const manyDevices = 5_000;
const liveSeconds = 5;
const livePerSecond = 60;
const sensorIds = ['a', 'b', 'c', 'd', 'e', 'f'];

const report = (what: string, figure: string): void => console.log(`${what.padEnd(64)} ${figure}`);
const ms = (value: number): string => `${Math.round(value)} ms`;

async function send(stage: Stage, path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as(username)({ method: 'POST', path, json });
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
}

/** A phone of the slow kind: a quarter of this machine's speed, 1.6 Mbit/s, 150 ms each way. */
async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 150 },
    ...{ downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 },
  });
}

async function timeToShow(stage: Stage, path: string, selector: string, visit: Visit) {
  const page = await stage.visit(visit);
  if (visit.width === 'phone') await slowDown(page);
  const start = performance.now();
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor();
  const elapsed = performance.now() - start;
  await page.context().close();
  return elapsed;
}

async function measureFirstLoad(stage: Stage): Promise<void> {
  const device = {
    ...{ id: 'field-1', name: 'Field 1' },
    sensors: sensorIds.map((id) => ({ id, name: `Sensor ${id}` })),
  };
  await send(stage, '/devices', device);
  for (const id of sensorIds) {
    await send(stage, `/devices/field-1/sensors/${id}/value`, { value: 20 });
  }
  const phone: Visit = { username, width: 'phone' };
  const slow = 'slow phone, nothing cached:';
  report(`${slow} log-in form`, ms(await timeToShow(stage, '/login', 'form', { width: 'phone' })));
  report(`${slow} home with its cards`, ms(await timeToShow(stage, '/', 'a.card', phone)));
  const path = '/devices/field-1';
  report(`${slow} values of a device`, ms(await timeToShow(stage, path, 'a.tile', phone)));
  report(`${slow} its chart`, ms(await timeToShow(stage, path, 'canvas', phone)));
}

/** Notes when the chart last said that it is done and that had been painted. */
const watchBusy = `new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.getAttribute('aria-busy') !== 'false') continue;
    requestAnimationFrame(() => setTimeout(() => { globalThis.drawnAt = performance.now(); }));
  }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ['aria-busy'] });`;

const answeredAt = `Math.max(...performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/sensors_data')).map(({ responseEnd }) => responseEnd))`;

async function measureYear(stage: Stage): Promise<void> {
  await send(stage, '/devices', { id: 'year', sensors: [{ id: 'TC', name: 'Warmth' }] });
  const start = Date.now() - yearMinutes * minuteMs;
  for (let from = 0; from < yearMinutes; from += batchValues) {
    const count = Math.min(batchValues, yearMinutes - from);
    const json = Array.from({ length: count }, (_, index) => ({
      value: Math.round(200 + 80 * Math.sin((from + index) / 230)) / 10,
      timestamp: new Date(start + (from + index) * minuteMs).toISOString(),
    }));
    await send(stage, '/devices/year/sensors/TC/values', json);
  }
  for (const width of ['desktop', 'phone'] as const) {
    const page = await stage.visit({ username, width });
    if (width === 'phone') await slowDown(page);
    await page.addInitScript(watchBusy);
    await page.goto('/devices/year');
    const done = page.locator('.chart-place[aria-busy=false]');
    await done.waitFor();
    const asked = performance.now();
    const answer = page.waitForResponse((response) => response.url().includes('aggregate='));
    await page.getByRole('button', { name: '1 year' }).click();
    await (await answer).finished();
    await done.waitFor();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    const drawn = Number(await page.evaluate(`globalThis.drawnAt - ${answeredAt}`));
    const name = width === 'phone' ? 'slow phone' : 'desktop';
    report(`${name}: a year of minutes, from the answer to the picture`, ms(drawn));
    report(`${name}: the same, from the tap`, ms(performance.now() - asked - 200));
    await page.context().close();
  }
}

const countFrames = `new Promise((resolve) => {
  const gaps = []; let before;
  const end = performance.now() + ${liveSeconds * 1_000};
  const step = (now) => {
    if (before !== undefined) gaps.push(now - before);
    before = now;
    if (now < end) requestAnimationFrame(step); else resolve(gaps);
  };
  requestAnimationFrame(step);
})`;

async function measureLive(stage: Stage): Promise<void> {
  const page = await stage.visit({ username });
  await page.goto('/devices/field-1');
  await page.getByText('live', { exact: true }).waitFor();
  await page.locator('.device-chart canvas').waitFor();
  const still = frameText((await page.evaluate(countFrames)) as readonly number[]);
  report('desktop: frames of a device page at rest', still);
  let sent = 0;
  const pushes: Promise<void>[] = [];
  const timer = setInterval(() => {
    const sensor = sensorIds[sent % sensorIds.length] ?? '';
    sent += 1;
    pushes.push(send(stage, `/devices/field-1/sensors/${sensor}/value`, { value: sent % 37 }));
  }, 1_000 / livePerSecond);
  const gaps = (await page.evaluate(countFrames)) as readonly number[];
  clearInterval(timer);
  await Promise.all(pushes);
  report(
    `desktop: frames while ${Math.round(sent / liveSeconds)} values a second come in`,
    frameText(gaps),
  );
  await page.context().close();
}

/** A frame is late when the next one would have been due. */
function frameText(gaps: readonly number[]): string {
  const late = gaps.filter((gap) => gap > 25).length;
  return `${gaps.length} frames, ${late} late, longest ${ms(Math.max(...gaps))}`;
}

async function measureMany(stage: Stage): Promise<void> {
  for (let from = 0; from < manyDevices; from += 100) {
    const ids = Array.from({ length: 100 }, (_, index) => `parcel-${from + index}`);
    const made = ids.map((id) => send(stage, '/devices', { id, sensors: [{ id: 'TC' }] }));
    await Promise.all(made);
  }
  const phone: Visit = { username, width: 'phone' };
  const what = `home with ${manyDevices} devices`;
  report(`slow phone: ${what}`, ms(await timeToShow(stage, '/', 'a.card', phone)));
  report(`desktop: ${what}`, ms(await timeToShow(stage, '/', 'a.card', { username })));
  const page = await stage.visit({ username });
  await page.goto('/');
  await page.locator('a.card').first().waitFor();
  const start = performance.now();
  await page.getByRole('searchbox').fill('parcel-4321');
  await page.locator('a.card[href="/devices/parcel-4321"]').waitFor();
  report('desktop: search among them', ms(performance.now() - start));
  await page.context().close();
}

const stage = await openStage();
try {
  await measureSlowPhone(stage, report, Number(process.env['RUNS'] ?? 5));
  if (!process.argv.includes('--phone')) {
    await measureFirstLoad(stage);
    await measureLive(stage);
    await measureYear(stage);
    await measureMany(stage);
  }
} finally {
  await stage[Symbol.asyncDispose]();
}
