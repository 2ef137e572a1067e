import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('a forgotten password is set anew with the code from the mail', async () => {
  // An address that an administrator gives is proven.
  const json = { email: 'ama@example.org' };
  const me = await stage.service.as('ama')({ path: '/users/me' });
  const path = `/users/${(me.json as { id: string }).id}`;
  await stage.service.as('admin')({ method: 'PUT', path, json });
  const page = await stage.visit({ width: 'phone' });
  await page.goto('/login');
  await page.getByRole('link', { name: 'Forgotten your password?' }).click();
  await page.getByLabel('Username').fill('ama@example.org');
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByText('a code is on its way there').waitFor();
  await stage.channels.until(1);
  const code = /\b\w{4}-\w{4}\b/.exec(stage.channels.sent[0]?.text ?? '')?.[0] ?? '';
  await page.getByLabel('Code from the mail').fill('AAAA-AAAA');
  await page.getByLabel('New password').fill('a-new-password-1');
  await page.getByRole('button', { name: 'password' }).click();
  await page.getByText('The code is wrong, or too old.').waitFor();
  await page.getByLabel('Code from the mail').fill(code);
  await page.getByRole('button', { name: 'password' }).click();
  await page.getByRole('heading', { name: 'ama' }).waitFor();
  const login = { username: 'ama', password: 'a-new-password-1' };
  const { status } = await stage.service.call({ method: 'POST', path: '/auth/token', json: login });
  assert.equal(status, 200);
  await page.context().close();
});

browserTest('who has no e-mail address is told whom to ask for a new password', async () => {
  const contact = 'Fatou, +221 77 123 45 67';
  const other = await openStage({ KIPIMO_CONTACT: contact });
  try {
    const page = await other.visit({ width: 'phone' });
    await page.goto('/forgotten');
    await page.getByText('they can set a new password').waitFor();
    await page.getByText(`Ask: ${contact}`).waitFor();
    await page.getByLabel('Username').fill('nobody');
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByText('a code is on its way there').waitFor();
    await page.getByText(`Ask: ${contact}`).waitFor();
    await page.context().close();
    assert.deepEqual(other.faults, []);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});
