import assert from 'node:assert/strict';
import { after, before } from 'node:test';
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

browserTest(
  'a farmer who is back after two weeks switches the pump, and others see who',
  async () => {
    const page = await stage.visit({ username: 'kojo', width: 'phone' });
    await page.goto('/');
    await page.getByRole('link', { name: 'Maize' }).click();
    await page.locator('.device-chart canvas').waitFor();
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
