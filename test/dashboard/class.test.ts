import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;

before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

for (const width of ['phone', 'desktop'] as const) {
  browserTest(`a class of 30 gets slips from a CSV list, on a ${width}`, async () => {
    const page = await stage.visit({ username: 'admin', width });
    await page.goto('/users');
    await page.getByRole('link', { name: 'Accounts for a class' }).click();
    const people = Array.from({ length: 30 }, (_, n) => `${width}-${n},Fatou Diop ${n},Class 4B`);
    const text = ['username,name,group', ...people, 'two words,Nobody,'].join('\r\n');
    const file = { name: 'class.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.getByLabel('The list').setInputFiles(file);
    await page.getByRole('button', { name: 'Create the accounts' }).click();
    await page.getByText('30 accounts are created').waitFor();
    await page.getByRole('heading', { name: '1 row was not taken' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'two words' }).waitFor();
    assert.equal(await page.getByText('username may hold letters').count(), 0, 'in plain words');
    const slips = page.locator('.slip');
    assert.equal(await slips.count(), 30);
    await slips.locator('svg.qr').last().waitFor();
    await assertAccessible(page);
    const slip = (await slips.nth(7).locator('strong').allTextContents()) as [string, string];
    assert.equal(slip[0], `${width}-7`);
    assert.match(await slips.nth(7).innerText(), /Name\s+Fatou Diop 7\n/);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('.nav').isVisible(), false);
    assert.equal(await slips.first().isVisible(), true);
    await page.context().close();
    await changeAtFirstLogin(await stage.visit({ width }), slip);
  });
}

async function changeAtFirstLogin(page: Page, [name, password]: [string, string]): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Username').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose a password of your own' });
  const fields = dialog.locator('input[type=password]');
  await fields.first().fill(password);
  await fields.last().fill('cassava-0815');
  await assertAccessible(page);
  await dialog.getByRole('button', { name: 'Change the password' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading').first().waitFor();
  const json = { username: name, password: 'cassava-0815' };
  const login = await stage.service.call({ method: 'POST', path: '/auth/token', json });
  const me = await stage.service.call({ path: '/users/me', token: login.text });
  assert.equal('password_is_initial' in (me.json as object), false);
  await page.context().close();
}

async function assertAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate('globalThis.axe !== undefined'))) await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)');
  const told = (found as axe.Result[]).map(({ id, nodes }) => [id, nodes[0]?.html]);
  assert.deepEqual(told, []);
}
