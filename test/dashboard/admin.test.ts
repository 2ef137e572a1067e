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

browserTest('an administrator closes sign-up, and sees who stores most', async () => {
  const admin = await stage.visit({ username: 'admin', width: 'phone' });
  await admin.goto('/usage');
  const open = admin.getByRole('switch', { name: 'Strangers may make accounts' });
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
