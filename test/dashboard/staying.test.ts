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
  // A page without the dashboard: the screen before would notice, and end the session itself.
  await page.goto('/healthz');
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
    await page.locator('summary', { hasText: 'Where you stay logged in' }).click();
    await page.getByText(/Chrome on Linux/).waitFor();
    assert.equal(await page.getByText('Your session has ended').count(), 0);
    assert.deepEqual(renewals, [200]);
    const cookies = await page.context().cookies(`${stage.service.url}/api/v2/auth/renew`);
    assert.ok(cookies.some(({ name, httpOnly }) => name === 'kipimo_session' && httpOnly));
    await page.context().close();
  },
);

/** What the cookie of this browser is worth to whoever has copied it. */
async function renewalBy(cookie: string): Promise<number> {
  const { url } = stage.service;
  const headers = {
    cookie: `kipimo_session=${cookie}`,
    origin: url,
    'sec-fetch-site': 'same-origin',
  };
  return (await fetch(`${url}/api/v2/auth/renew`, { method: 'POST', headers })).status;
}

for (const isOld of [false, true]) {
  const when = isOld ? 'after its token has ended' : 'soon';
  browserTest(`a logout without network is the first thing said with it, ${when}`, async () => {
    const page = await stage.visit({ width: 'phone' });
    const context = page.context();
    const name = isOld ? 'adwoa' : 'akua';
    await logIn(page, name, true);
    await page.goto('/profile');
    await page.getByText(`Logged in as ${name}`).waitFor();
    await page.evaluate(() => {
      localStorage.setItem('kipimo.known.me', '{"value":"a secret","at":0}');
      localStorage.setItem('kipimo.known', '[{"key":"me","size":20}]');
    });
    const path = `${stage.service.url}/api/v2/auth/renew`;
    const [cookie] = await context.cookies(path);
    assert.ok(cookie);
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Log out' }).first().click();
    await page.waitForFunction(() => localStorage.getItem('kipimo.session') === null);
    assert.equal(await page.evaluate(() => localStorage.getItem('kipimo.known.me')), null);
    if (isOld) {
      await page.evaluate(() => {
        const owed = JSON.parse(localStorage.getItem('kipimo.owed-logouts') ?? '[]');
        const ended = owed.map((one: object) => ({ ...one, token: 'ended' }));
        localStorage.setItem('kipimo.owed-logouts', JSON.stringify(ended));
      });
    }
    // A page that is being closed has network for a moment, and would say the logout itself.
    await page.goto('about:blank');
    await page.close();
    await context.setOffline(false);
    const later = await context.newPage();
    const said: string[] = [];
    later.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/v2/')) said.push(`${request.method()} ${pathname}`);
    });
    await later.goto('/devices');
    await later.waitForFunction(() => localStorage.getItem('kipimo.owed-logouts') === null);
    const sequence = ['DELETE /api/v2/auth/token', 'POST /api/v2/auth/renew'];
    assert.deepEqual(said.slice(0, isOld ? 2 : 1), isOld ? sequence : sequence.slice(0, 1));
    assert.equal(await later.evaluate(() => localStorage.getItem('kipimo.session')), null);
    assert.deepEqual(await context.cookies(path), []);
    assert.equal(await renewalBy(cookie.value), 401);
    await context.close();
  });
}

browserTest('who logs in after a session that ended finds nothing of who was there', async () => {
  const page = await stage.visit({ width: 'phone' });
  const kept = () =>
    page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  await logIn(page, 'efua', false);
  await page.evaluate(() => {
    localStorage.setItem('kipimo.known.efua.me', '{"value":"a secret of efua","at":0}');
    localStorage.setItem('kipimo.known', '[{"key":"efua.me","size":20}]');
    sessionStorage.setItem('kipimo.new-device', '{"name":"a draft of efua"}');
  });
  await comeBackLater(page, '/profile');
  await page.getByText('Your session has ended').waitFor();
  await logIn(page, 'afia', false);
  assert.ok(!(await kept()).includes('efua'), await kept());
  await page.context().close();
});

browserTest('a browser is logged out from the list of those that stay logged in', async () => {
  const page = await stage.visit({ width: 'phone' });
  await logIn(page, 'ama', true);
  await page.goto('/profile');
  await page.locator('summary', { hasText: 'Where you stay logged in' }).tap();
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
  await page.locator('summary', { hasText: 'Password' }).tap();
  await page.getByLabel('Current password').fill('not this one');
  await page.getByLabel('New password').fill('a-new-password-1');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('That is not your current password.').waitFor();
  await page.getByLabel('Current password').fill(passwordOf('yaw'));
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The password is changed.').waitFor();
  await page.reload();
  await page.getByText('Logged in as yaw').waitFor();
  await page.context().close();
});
