import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { passwordOf } from '../service.ts';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function logIn(page: Page, username: string, stays: boolean): Promise<void> {
  await stage.service.tokenOf(username);
  await page.goto('/login');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(passwordOf(username));
  await page.getByLabel('Stay logged in on this device').setChecked(stays);
  await page.locator('form').getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Your first device').or(page.getByRole('heading')).first().waitFor();
  await page.waitForFunction(() => localStorage.getItem('kipimo.session') !== null);
}

/** As if the page had been away for longer than its token lives. */
async function comeBackLater(page: Page, path: string): Promise<void> {
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('kipimo.session') ?? '{}');
    const ended = { ...session, token: 'ended', obtainedAt: 0 };
    localStorage.setItem('kipimo.session', JSON.stringify(ended));
  });
  await page.goto(path);
}

browserTest(
  'who stays logged in is still there after two weeks, and sees nothing false',
  async () => {
    const page = await stage.visit({ width: 'phone' });
    await page.goto('/login');
    assert.ok(await page.getByLabel('Stay logged in on this device').isChecked(), 'offered');
    await logIn(page, 'kofi', true);
    const renewals: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/auth/renew')) renewals.push(response.status());
    });
    await comeBackLater(page, '/profile');
    await page.getByText('Logged in as kofi').waitFor();
    await page.getByText(/Chrome on Linux/).waitFor();
    assert.equal(await page.getByText('Your session has ended').count(), 0);
    assert.deepEqual(renewals, [200]);
    const cookies = await page.context().cookies(`${stage.service.url}/api/v2/auth/renew`);
    assert.ok(cookies.some(({ name, httpOnly }) => name === 'kipimo_session' && httpOnly));
    await page.context().close();
  },
);

browserTest('a browser is logged out from the list of those that stay logged in', async () => {
  const page = await stage.visit({ width: 'phone' });
  await logIn(page, 'ama', true);
  await page.goto('/profile');
  const browsers = page.getByRole('region', { name: 'Where you stay logged in' });
  await browsers.getByText(/Chrome on Linux/).waitFor();
  await browsers.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('Your session has ended').waitFor();
  await page.context().close();
});

browserTest('who does not stay is asked for the password again, and keeps no cookie', async () => {
  const page = await stage.visit({ width: 'desktop' });
  await logIn(page, 'esi', false);
  const cookies = await page.context().cookies(`${stage.service.url}/api/v2/auth/renew`);
  assert.deepEqual(cookies, []);
  await comeBackLater(page, '/profile');
  await page.getByText('Your session has ended').waitFor();
  await page.context().close();
});

browserTest('a new password asks for the present one, and this browser goes on', async () => {
  const page = await stage.visit({ width: 'phone' });
  await logIn(page, 'yaw', true);
  await page.goto('/profile');
  await page.getByLabel('Present password').fill('not this one');
  await page.getByLabel('New password').fill('a-new-password-1');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('That is not your present password.').waitFor();
  await page.getByLabel('Present password').fill(passwordOf('yaw'));
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The password is changed.').waitFor();
  await page.reload();
  await page.getByText('Logged in as yaw').waitFor();
  await page.context().close();
});
