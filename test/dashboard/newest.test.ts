import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
const hourMs = 3_600_000;

before(async () => {
  stage = await openStage();
  const sensors = [{ id: 'T', name: 'Air', unit: 'DegreeCelsius' }];
  await send('/devices', { id: 'shed', name: 'Shed', visibility: 'private', sensors });
  await push(12, 0);
  await push(4, 4);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as('ama')({ method: 'POST', path, json });
  assert.ok(status < 300, `${path}: ${status} ${text}`);
}

const push = (value: number, hoursAgo: number): Promise<void> =>
  send('/devices/shed/sensors/T/value', {
    ...{ value, timestamp: new Date(Date.now() - hoursAgo * hourMs).toISOString() },
  });

/** Where a value of the sensor shows, on each screen that has one. */
const places: readonly (readonly [path: string, place: string])[] = [
  ['/', '.card-value'],
  ['/?look=lines', '.line-values'],
  ['/devices/shed', '.tile-value'],
  ['/devices/shed/sensors/T', '.hero'],
];

async function shows(page: Page, place: string, value: string): Promise<void> {
  await page.locator(place, { hasText: new RegExp(`^${value} °C`) }).waitFor();
}

for (const width of ['phone', 'desktop'] as const) {
  browserTest(`cards and tiles show what is newest by time, on a ${width}`, async () => {
    const page = await stage.visit({ username: 'ama', width });
    for (const [path, place] of places) {
      await page.goto(path);
      await shows(page, place, '12');
    }
    await page.context().close();
  });
}

browserTest('an older value that comes while somebody looks changes no tile', async () => {
  const page = await stage.visit({ username: 'ama' });
  const other = await stage.visit({ username: 'ama' });
  await page.goto('/devices/shed');
  await other.goto('/');
  await shows(page, '.tile-value', '12');
  await shows(other, '.card-value', '12');
  await push(20, 0);
  await shows(page, '.tile-value', '20');
  await push(5, 3);
  await push(21, 0);
  await push(6, 2);
  await shows(page, '.tile-value', '21');
  await shows(other, '.card-value', '21');
  await page.reload();
  await shows(page, '.tile-value', '21');
  await page.context().close();
  await other.context().close();
});
