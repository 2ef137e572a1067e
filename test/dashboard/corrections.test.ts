import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './accessible.ts';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
const minuteMs = 60_000;
const start = Date.now() - 60 * minuteMs;

before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(method: string, path: string, json?: unknown): Promise<unknown> {
  const reply = await stage.service.as('ama')({
    method,
    path,
    ...(json !== undefined && { json }),
  });
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.json;
}

/** Values of the last hour, a minute apart; the newest is that of a broken probe. */
async function makeDevice(id: string, { count = 60, stepMs = minuteMs } = {}): Promise<void> {
  const sensors = [{ id: 'TC', name: 'Air', unit: 'DegreeCelsius' }];
  await send('POST', '/devices', { id, name: id, sensors });
  const newest = start + 59 * minuteMs;
  const values = Array.from({ length: count }, (_, n) => ({
    value: n === count - 1 ? 85 : 20 + n / 10,
    timestamp: new Date(newest - (count - 1 - n) * stepMs).toISOString(),
  }));
  await send('POST', `/devices/${id}/sensors/TC/values`, values);
}

const lastOf = async (id: string): Promise<unknown> =>
  ((await send('GET', `/devices/${id}/sensors/TC`)) as { last_value: { value: unknown } })
    .last_value.value;

async function open(page: Page, id: string): Promise<void> {
  await page.goto(`/devices/${id}/sensors/TC`);
  await page.locator('.chart-place[aria-busy=false] canvas').first().waitFor();
}

/** Taps on the newest point of the chart. */
async function markLast(page: Page): Promise<void> {
  await page.locator('.chart-place').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'This is wrong' }).waitFor();
}

for (const width of Object.keys(widths) as Width[]) {
  for (const theme of ['light', 'dark'] as const) {
    browserTest(`a value is taken away, and that is undone, on a ${width}, ${theme}`, async () => {
      const id = `gone-${width}-${theme}`;
      await makeDevice(id);
      const page = await stage.visit({ username: 'ama', width, theme });
      await open(page, id);
      await markLast(page);
      await page.getByRole('button', { name: 'This is wrong' }).click();
      await page.locator('.dialog .number', { hasText: '85 °C' }).first().waitFor();
      await assertAccessible(page);
      await page.getByRole('button', { name: 'Remove it' }).click();
      await page.getByText('1 value removed').waitFor();
      assert.equal(await lastOf(id), 25.8);
      await page.locator('.hero', { hasText: '25.8' }).waitFor();
      await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
      await page.locator('.hero', { hasText: '85' }).waitFor();
      assert.equal(await lastOf(id), 85);
      await page.context().close();
    });
  }
}

/** Every way to read says the same of the newest value, of `count`, which is the greatest. */
async function assertAllSay(id: string, { count, newest }: { count: number; newest: number }) {
  assert.equal(await lastOf(id), newest);
  const path = `/devices/${id}/sensors/TC/values`;
  const values = (await send('GET', `${path}?limit=1000`)) as readonly { value: number }[];
  assert.deepEqual([values.length, values.at(-1)?.value], [count, newest]);
  const csv = await stage.service.as('ama')({ path: `${path}?format=csv&limit=1000` });
  const lines = csv.text.trim().split('\r\n').slice(1);
  assert.equal(lines.length, count);
  assert.ok(lines.at(-1)?.split(',').includes(String(newest)), lines.at(-1));
  const sums = await send('GET', `${path}?aggregate=count,max,last`);
  const [bucket] = sums as readonly Record<string, unknown>[];
  assert.deepEqual([bucket?.['count'], bucket?.['max'], bucket?.['last']], [count, newest, newest]);
  const page = await stage.visit({ username: 'ama' });
  await open(page, id);
  await page.locator('.hero', { hasText: String(newest) }).waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  const rows = page.locator('.chart-table tbody tr');
  await rows
    .first()
    .locator('td', { hasText: String(newest) })
    .waitFor();
  assert.equal(await rows.count(), count);
  await page.context().close();
}

browserTest('a value is put right in three taps, and undone in two from the list', async () => {
  const count = 24;
  // So far apart on a phone that a finger at the end of the chart marks the newest.
  await makeDevice('right', { count, stepMs: 59 * minuteMs });
  await assertAllSay('right', { count, newest: 85 });
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await open(page, 'right');
  const plot = page.locator('.plot .u-over').first();
  const box = await plot.boundingBox();
  assert.ok(box !== null);
  // Where the plot is when it rests: a finger beside the newest point marks another.
  await plot.tap({ position: { x: box.width - 2, y: box.height / 2 } });
  await page.getByRole('button', { name: 'This is wrong' }).tap();
  await page.locator('.dialog .wrong-value', { hasText: '85 °C' }).waitFor();
  await page.getByLabel('What it should be').fill('25,9');
  await page.getByRole('button', { name: 'Correct it' }).tap();
  await page.locator('.hero', { hasText: '25.9' }).waitFor();
  await assertAllSay('right', { count, newest: 25.9 });
  await page.getByText('Removed and corrected values').tap();
  const row = page.locator('.correction', { hasText: '1 value corrected' });
  await row.getByText('by ama').waitFor();
  await row.getByText('85 °C → 25.9 °C').waitFor();
  await page.locator('.toast', { hasText: '1 value corrected: 85 °C → 25.9 °C' }).waitFor();
  await assertAccessible(page);
  await row.getByRole('button', { name: 'Undo' }).tap();
  await page.locator('.hero', { hasText: '85' }).waitFor();
  await page.getByText('None so far.').waitFor();
  assert.equal(await page.locator('.toast').getByRole('button', { name: 'Undo' }).count(), 0);
  await assertAllSay('right', { count, newest: 85 });
  await page.context().close();
});

browserTest('a stretch of time is taken away, and says how much that is', async () => {
  await makeDevice('stretch');
  const page = await stage.visit({ username: 'ama' });
  await open(page, 'stretch');
  await page.getByRole('button', { name: 'A period is wrong' }).click();
  const minute = (n: number) => new Date(start + n * minuteMs).toISOString().slice(0, 16);
  await page.getByLabel('From').last().fill(minute(10));
  await page.getByLabel('To').last().fill(minute(12));
  await page.getByText('3 values will be removed').waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByText('3 values removed').waitFor();
  const left = (await send('GET', '/devices/stretch/sensors/TC/values?limit=100')) as unknown[];
  assert.equal(left.length, 57);
  await page.getByText('Removed and corrected values').click();
  await page.locator('.correction', { hasText: '21 °C · 21.1 °C · 21.2 °C' }).waitFor();
  await page.context().close();
});

browserTest('who may not change a device is not offered to', async () => {
  await makeDevice('others');
  const page = await stage.visit({ username: 'kofi' });
  await open(page, 'others');
  assert.equal(await page.locator('.wrong-bar').count(), 0);
  await page.context().close();
});
