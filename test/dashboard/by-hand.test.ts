import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Response } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  const sensors = [
    { id: 'RA', name: 'Rain', unit: 'Millimetre' },
    { id: 'WL', name: 'Well' },
  ];
  const json = { id: 'gauge', name: 'Gauge', visibility: 'private', sensors };
  const { status } = await stage.service.as('ama')({ method: 'POST', path: '/devices', json });
  assert.equal(status, 204);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function stored(sensor: string): Promise<readonly { value: unknown; timestamp: string }[]> {
  const path = `/devices/gauge/sensors/${sensor}/values?sort=asc`;
  const { text } = await stage.service.as('ama')({ path });
  return JSON.parse(text);
}

browserTest('a person without a board types what a gauge shows, with its time', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/devices/gauge');
  await page.getByRole('link', { name: 'Type a value' }).click();
  const save = page.getByRole('button', { name: 'Save the value' });
  await save.click();
  await page.getByText('Type what you read first.').waitFor();
  await page.getByLabel('Value (mm)').fill('a lot');
  await save.click();
  await page.getByText('This sensor measures numbers').waitFor();
  await page.getByLabel('Value (mm)').fill('12,5');
  await page.getByLabel('When it was read').fill('2099-03-20T07:00');
  await save.click();
  await page.getByText('more than a day in the future').waitFor();
  await page.getByLabel('Value (mm)').fill('12,5');
  await page.getByLabel('When it was read').fill('2026-03-20T07:00');
  const isPush = (reply: Response): boolean => reply.request().method() === 'POST';
  await Promise.all([page.waitForResponse(isPush), save.click()]);
  await page.getByText('Saved', { exact: true }).waitFor();
  const [rain] = await stored('RA');
  assert.equal(rain?.value, 12.5);
  // On the clock of the browser, as the device has no zone: UTC+0.
  assert.equal(rain?.timestamp, '2026-03-20T07:00:00.000Z');
  await page.getByLabel('Sensor').selectOption({ label: 'Well' });
  await page.getByLabel('Value', { exact: true }).fill('nearly dry');
  await Promise.all([page.waitForResponse(isPush), save.click()]);
  assert.equal((await stored('WL'))[0]?.value, 'nearly dry');
  await page.context().close();
});

browserTest('what is typed without network is kept, and sent when it is back', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/devices/gauge/send?by=hand');
  await page.getByLabel('Value (mm)').waitFor();
  await page.context().setOffline(true);
  const began = Date.now();
  for (const value of ['3', '4']) {
    await page.getByLabel('Value (mm)').fill(value);
    await page.getByRole('button', { name: 'Save the value' }).click();
    await page.getByText(value === '3' ? '1 value waits' : '2 values wait').waitFor();
  }
  // The page is closed and opened again meanwhile.
  await page.context().setOffline(false);
  await page.goto('/devices/gauge');
  await page.locator('.tile-value', { hasText: '4' }).waitFor();
  const rain = (await stored('RA')).filter(({ timestamp }) => Date.parse(timestamp) >= began);
  assert.deepEqual(
    rain.map(({ value }) => value),
    [3, 4],
  );
  await page.goto('/devices/gauge/send?by=hand');
  await page.getByLabel('Value (mm)').waitFor();
  assert.equal(await page.getByText('for the network').count(), 0);
  await page.context().close();
});

browserTest('what was typed without network outlives a service that is busy', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/devices/gauge/send?by=hand');
  await page.getByLabel('Value (mm)').waitFor();
  await page.context().setOffline(true);
  const began = Date.now();
  await page.getByLabel('Value (mm)').fill('7');
  await page.getByRole('button', { name: 'Save the value' }).click();
  await page.getByText('1 value waits').waitFor();
  const path = '**/sensors/RA/value';
  const json = { error: 'unavailable', description: 'starting' };
  await page.route(path, (route) => route.fulfill({ status: 503, json }));
  await page.context().setOffline(false);
  await Promise.all([page.waitForResponse(path), page.goto('/devices/gauge')]);
  await page.waitForTimeout(500);
  await page.unroute(path);
  await page.goto('/devices/gauge');
  await page.locator('.tile-value', { hasText: '7' }).waitFor();
  const rain = (await stored('RA')).filter(({ timestamp }) => Date.parse(timestamp) >= began);
  assert.deepEqual(
    rain.map(({ value }) => value),
    [7],
  );
  await page.context().close();
});
