import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  await stage.service.as('ama')({ method: 'POST', path: '/devices', json: { id: 'pond' } });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('an administrator sees how the service is', async () => {
  // A text message that nobody can get: it is given up at once.
  const as = stage.service.as('kwesi');
  const device = { id: 'dry', sensors: [{ id: 'SM' }] };
  await as({ method: 'POST', path: '/devices', json: device });
  const action = { usernames: ['kwesi'], channels: ['sms'], message: 'dry' };
  const condition = { devices: ['dry'], sensors: ['SM'], expression: 'SM < 30' };
  await as({ method: 'POST', path: '/notifications', json: { condition, action } });
  await as({ method: 'POST', path: '/devices/dry/sensors/SM/value', json: { value: 1 } });
  const page = await stage.visit({ username: 'admin', width: 'desktop', theme: 'dark' });
  await page.goto('/usage');
  const service = page.getByRole('region', { name: 'The service' });
  for (const text of ['Version', 'None yet: kipimo backup FILE makes one.', 'sms 1']) {
    await service.getByText(text).waitFor();
  }
  for (const name of ['Connections', 'MQTT sessions', 'Alerts in memory']) {
    await page.getByRole('meter', { name, exact: true }).waitFor();
  }
  await page.context().close();
});

browserTest('an administrator closes sign-up, and sees who stores most', async () => {
  const admin = await stage.visit({ username: 'admin', width: 'phone' });
  await admin.goto('/usage');
  const open = admin.getByRole('switch', { name: 'Anybody can create an account' });
  await admin.getByText('As KIPIMO_SIGNUP says.').waitFor();
  assert.equal(await open.isChecked(), true);
  await open.click();
  await admin.getByText('Set here; KIPIMO_SIGNUP says open.').waitFor();
  const stranger = await stage.visit();
  await stranger.goto('/signup');
  await stranger.getByText('This service takes no new acco').waitFor();
  await stranger.goto('/login');
  await stranger.getByLabel('Username').waitFor();
  assert.equal(await stranger.getByRole('link', { name: 'Sign up' }).count(), 0);
  await admin.getByRole('button', { name: 'As KIPIMO_SIGNUP says' }).click();
  await admin.getByText('As KIPIMO_SIGNUP says.').waitFor();
  await stranger.reload();
  await stranger.getByRole('link', { name: 'Sign up' }).waitFor();
  const stored = admin.getByRole('region', { name: 'Storage' });
  await stored.getByText('ama').waitFor();
  for (const page of [admin, stranger]) await page.context().close();
});
