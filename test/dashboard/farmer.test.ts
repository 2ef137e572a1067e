import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { slowDown } from '../../scripts/slow-phone.ts';
import { passwordOf } from '../service.ts';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  const as = stage.service.as('kojo');
  const json = {
    ...{ id: 'field', name: 'Maize', visibility: 'public' },
    sensors: [{ id: 'SM', name: 'Soil', unit: 'Percent' }],
    actuators: [{ id: 'pump', name: 'Pump', value_type: 'bool', value: false }],
  };
  assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  const dayMs = 86_400_000;
  const values = Array.from({ length: 14 }, (_, day) => ({
    value: 40 - day,
    timestamp: new Date(Date.now() - (14 - day) * dayMs).toISOString(),
  }));
  const path = '/devices/field/sensors/SM/values';
  assert.equal((await as({ method: 'POST', path, json: values })).status, 204);
  for (const worker of ['yaa', 'stranger']) await stage.service.tokenOf(worker);
  const grant = ['devices:view', 'devices-data:view', 'devices-data:create'];
  const share = { method: 'PUT', path: '/devices/field/grants/yaa', json: grant };
  assert.equal((await as(share)).status, 204);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

/** A phone that stayed logged in, at the edge of its network; its token ended long ago. */
async function backAfterTwoWeeks(): Promise<Page> {
  const page = await stage.visit({ width: 'phone' });
  await page.goto('/login');
  await page.getByLabel('Username').fill('kojo');
  await page.getByLabel('Password', { exact: true }).fill(passwordOf('kojo'));
  await page.locator('form').getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Maize' }).waitFor();
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('kipimo.session') ?? '{}');
    const obtainedAt = Date.now() - 14 * 86_400_000;
    localStorage.setItem(
      'kipimo.session',
      JSON.stringify({ ...session, token: 'ended', obtainedAt }),
    );
  });
  await slowDown(page);
  await page.reload();
  return page;
}

browserTest(
  'a farmer who is back after two weeks switches the pump, and others see who',
  async () => {
    const page = await backAfterTwoWeeks();
    await page.getByRole('link', { name: 'Maize' }).click();
    await page.locator('.device-chart [aria-busy=false] canvas').waitFor();
    assert.equal(await page.getByText('Your session has ended').count(), 0);
    await page.getByRole('button', { name: 'On for 20 minutes' }).click();
    await page.getByText('Pump is on for 20 minutes').waitFor();
    await page.getByText('You set it').waitFor();
    await page.getByText('not confirmed by the device yet').waitFor();

    const worker = await stage.visit({ username: 'yaa', theme: 'dark' });
    await worker.goto('/devices/field');
    await worker.getByText('kojo set it').waitFor();
    assert.equal(await worker.getByRole('switch', { name: 'Pump' }).isChecked(), true);
    const confirm = {
      ...{ method: 'PUT', path: '/devices/field/actuators/pump/value' },
      json: { value: true, confirmed: true },
    };
    assert.equal((await stage.service.as('kojo')(confirm)).status, 204);
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
    for (const visit of [page, worker, stranger]) await visit.context().close();
  },
);
