import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  const as = stage.service.as('ama');
  for (const [index, id] of ['north', 'south', 'well'].entries()) {
    const location = { latitude: 6.5 + index / 1_000, longitude: -1.6 };
    const json = { id, name: `Field ${id}`, location, sensors: [{ id: 'T' }] };
    assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  }
  const path = '/devices/well/sensors/T/value';
  assert.equal((await as({ method: 'POST', path, json: { value: 20 } })).status, 204);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('the map names what is around, finds places, and says what is close by', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone', language: 'fr' });
  await page.goto('/map');
  await page.locator('.map-name', { hasText: 'Obuasi' }).locator('span').waitFor();
  const cluster = page.getByRole('button', { name: '3 appareils ici' });
  assert.match((await cluster.getAttribute('aria-label')) ?? '', /arrêté: 2 · Field/);
  await page.getByRole('searchbox').fill('tanganyika');
  await page.getByRole('button', { name: 'Lac Tanganyika' }).click();
  for (const name of ['Lac Tanganyika', 'Bujumbura']) {
    await page.locator('.map-name', { hasText: name }).locator('span').waitFor();
  }
  await page.getByRole('searchbox').fill('zzz');
  await page.getByText('Aucun lieu de ce nom').waitFor();
  await page.context().close();
});

browserTest('one’s own position is shown on the map, or why it is not', async () => {
  const page = await stage.visit({ username: 'ama' });
  await page.goto('/map');
  await page.getByRole('button', { name: 'Where I am now' }).click();
  await page.getByText('The browser is not allowed to give your position').waitFor();
  await page.context().grantPermissions(['geolocation']);
  await page.context().setGeolocation({ latitude: -1.286, longitude: 36.817, accuracy: 300 });
  await page.getByRole('button', { name: 'Where I am now' }).click();
  await page.locator('.map-name', { hasText: 'Nairobi' }).locator('span').waitFor();
  await page.context().close();
});

browserTest('the map shows what an alert is about, and counts what has no place', async () => {
  const as = stage.service.as('esi');
  const location = { latitude: 6.5, longitude: -1.6 };
  const pond = { id: 'pond', name: 'Pond', location, sensors: [{ id: 'T', name: 'Water' }] };
  const box = { id: 'box', sensors: [] };
  for (const json of [pond, box]) await as({ method: 'POST', path: '/devices', json });
  const condition = { devices: ['pond'], sensors: ['T'], expression: 'T > 30' };
  const action = { usernames: ['esi'], channels: ['sms'], message: 'warm' };
  await as({ method: 'POST', path: '/notifications', json: { condition, action } });
  const push = (value: number) =>
    as({ method: 'POST', path: '/devices/pond/sensors/T/value', json: { value } });
  assert.equal((await push(20)).status, 204);
  const page = await stage.visit({ username: 'esi', width: 'phone', theme: 'dark' });
  await page.goto('/map');
  await page.getByRole('button', { name: 'Pond, fresh' }).waitFor();
  await page.getByText('1 device has no place yet').waitFor();
  assert.equal((await push(40)).status, 204);
  const mark = page.getByRole('button', { name: 'Pond, alert' });
  await mark.click();
  await page.getByText(/^alert · .*Water.*30.* · 40/).waitFor();
  await page.context().close();
});
