import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { passwordOf } from '../service.ts';
import { browserTest, openStage, type Stage, widths } from './browser.ts';

let stage: Stage;

before(async () => {
  stage = await openStage();
  const admin = stage.service.as('admin');
  const rows = Array.from({ length: 70 }, (_, n) => `pupil-${n},Fatou Diop ${n}`);
  const body = ['username,name', ...rows].join('\n');
  await admin({ method: 'POST', path: '/users/import', body, type: 'text/csv' });
  for (const name of ['leaver-1', 'leaver-2']) await stage.service.tokenOf(name);
  await stage.service.as('leaver-1')({ method: 'POST', path: '/devices', json: { id: 'well' } });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const logIn = (username: string, password = passwordOf(username)) =>
  stage.service.call({ method: 'POST', path: '/auth/token', json: { username, password } });

const rows = (page: Page) => page.locator('.user-row');

async function choose(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.getByRole('checkbox', { name: `Choose ${name}`, exact: true }).check();
  }
}

async function begin(page: Page, change: string): Promise<ReturnType<Page['getByRole']>> {
  await page.locator('.several-users select').selectOption({ label: change });
  await page.getByRole('button', { name: 'Continue' }).click();
  const dialog = page.getByRole('dialog', { name: change });
  await dialog.waitFor();
  await assertFine(page);
  return dialog;
}

for (const width of ['phone', 'desktop'] as const) {
  browserTest(`an administrator finds who never logged in, on a ${width}`, async () => {
    const page = await stage.visit({ username: 'admin', width });
    await page.goto('/users');
    await page.getByText('73 users').waitFor();
    assert.equal(await rows(page).count(), 50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows(page).nth(72).waitFor();
    const leaver = rows(page).filter({ hasText: 'leaver-1' });
    assert.match(await leaver.innerText(), /last login .* · 1\u00a0device/);
    await assertFine(page);
    await page.getByLabel('Show', { exact: true }).selectOption({ label: 'Never logged in' });
    await page.getByText(/^(70|69)\u00a0users$/).waitFor();
    await page.getByLabel('Search users').fill('diop 69');
    await page.getByText('1 user', { exact: true }).waitFor();
    assert.match(await rows(page).first().innerText(), /pupil-69 Fatou Diop 69\s+never logged in/);
    // What is shown is in the address: a visit to an account leads back to it.
    await rows(page).first().getByRole('link').click();
    await page.getByRole('heading', { name: 'pupil-69' }).waitFor();
    await page.goBack();
    await page.getByText('1 user', { exact: true }).waitFor();
    await page.context().close();
  });

  browserTest(`several pupils get new passwords on slips with names, on a ${width}`, async () => {
    const page = await stage.visit({ username: 'admin', width });
    await page.goto('/users?text=fatou');
    const names = width === 'phone' ? ['pupil-1', 'pupil-2'] : ['pupil-3', 'pupil-4'];
    await choose(page, ...names);
    await assertFine(page);
    const dialog = await begin(page, 'New passwords, with slips');
    await dialog.getByText('Makes new passwords for 2 users').waitFor();
    await dialog.getByRole('button', { name: 'Make 2 passwords' }).click();
    const slips = page.locator('.slip');
    await slips.nth(1).locator('svg.qr').waitFor();
    await assertFine(page);
    const [name = '', username = '', password = ''] = [
      await slips.first().locator('dd').first().innerText(),
      ...(await slips.first().locator('strong').allInnerTexts()),
    ];
    assert.deepEqual([name, username], [`Fatou Diop ${names[0]?.slice(6)}`, names[0]]);
    const token = (await logIn(username, password)).text;
    const me = await stage.service.call({ path: '/users/me', token });
    assert.equal((me.json as Record<string, unknown>)['password_is_initial'], true);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await slips.first().isVisible(), true);
    assert.equal(await page.getByRole('button', { name: 'Back to the users' }).isVisible(), false);
    await page.context().close();
  });
}

browserTest('several accounts are locked out, get a credit, and are deleted', async () => {
  const page = await stage.visit({ username: 'admin' });
  const me = page.getByRole('checkbox', { name: 'Choose admin', exact: true });
  await page.goto('/users');
  await me.waitFor();
  assert.equal(await me.isDisabled(), true, 'nobody locks oneself out');
  await page.goto('/users?text=pupil-6');
  await choose(page, 'pupil-61', 'pupil-62', 'pupil-63');
  const credit = await begin(page, 'Messages by SMS or phone');
  await credit.getByLabel('Messages by SMS or phone').fill('many');
  await credit.getByRole('button', { name: 'Set for 3 users' }).click();
  await credit.getByText('Type a whole number, or nothing.').waitFor();
  await credit.getByLabel('Messages by SMS or phone').fill('5');
  await credit.getByRole('button', { name: 'Set for 3 users' }).click();
  await page.getByText('3 accounts are changed').waitFor();
  await rows(page).filter({ hasText: '5 SMS left' }).nth(2).waitFor();
  await choose(page, 'pupil-61', 'pupil-62');
  const lock = await begin(page, 'Lock out');
  await lock.getByRole('button', { name: 'Lock out 2 users' }).click();
  await rows(page).filter({ hasText: 'locked out' }).nth(1).waitFor();
  await page.goto('/users?text=leaver');
  await choose(page, 'leaver-1', 'leaver-2');
  const remove = await begin(page, 'Delete');
  await remove.getByText('1 device is deleted with them.').waitFor();
  await remove.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await logIn('leaver-1')).status, 200);
  await (await begin(page, 'Delete')).getByRole('button', { name: 'Delete 2 accounts' }).click();
  await rows(page).filter({ hasText: 'leaver-1' }).waitFor({ state: 'detached' });
  assert.equal((await logIn('leaver-1')).status, 401);
  await page.context().close();
});

browserTest('what fails for one account says why, and the others are changed', async () => {
  const page = await stage.visit({ username: 'admin' });
  await page.goto('/users?text=pupil-5');
  await choose(page, 'pupil-50', 'pupil-51');
  const found = await stage.service.as('admin')({ path: '/users?username=pupil-50' });
  const [user] = found.json as readonly { readonly id: string }[];
  await stage.service.as('admin')({ method: 'DELETE', path: `/users/${user?.id}` });
  const dialog = await begin(page, 'New passwords, with slips');
  await dialog.getByRole('button', { name: 'Make 2 passwords' }).click();
  await dialog.getByText('1 account is changed').waitFor();
  await dialog.getByRole('listitem').filter({ hasText: 'pupil-50' }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  assert.equal(await page.locator('.slip').count(), 1);
  await page.context().close();
});

for (const language of ['fr', 'sw', 'pt'] as const) {
  browserTest(`several users fit on a phone and are accessible, in ${language}`, async () => {
    const page = await stage.visit({ username: 'admin', width: 'phone', language });
    await page.goto('/users?text=pupil-2');
    await rows(page).first().getByRole('checkbox').check();
    const select = page.locator('.several-users select');
    const values = await select
      .locator('option')
      .evaluateAll((options) =>
        options.map((option) => (option as unknown as { value: string }).value),
      );
    for (const value of values) {
      await select.selectOption(value);
      await page.locator('.several-users button').click();
      await page.getByRole('dialog').waitFor();
      await assertFine(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.context().close();
  });
}

/** Asserts that axe finds nothing, and that the screen is as wide as its window. */
async function assertFine(page: Page): Promise<void> {
  if (!(await page.evaluate('globalThis.axe !== undefined'))) await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)');
  const told = (found as axe.Result[]).map(({ id, nodes }) => [id, nodes[0]?.html]);
  assert.deepEqual(told, []);
  const width = (await page.evaluate('document.documentElement.scrollWidth')) as number;
  const viewport = page.viewportSize()?.width ?? widths.phone;
  assert.ok(width <= viewport, `${width} px wide, the window ${viewport}`);
  if (process.env['PICTURES'] !== undefined) {
    const file = `${process.env['PICTURES']}/${Date.now()}-${viewport}.png`;
    await page.screenshot({ path: file });
  }
}
