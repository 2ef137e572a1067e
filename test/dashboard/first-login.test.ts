import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

const stages: Stage[] = [];
before(async () => {
  for (const _walk of ['sets a password', 'later']) {
    stages.push(await openStage({}, { isStartedByHand: true }));
  }
});
after(async () => {
  for (const stage of stages) await stage[Symbol.asyncDispose]();
  assert.deepEqual(
    stages.flatMap(({ faults }) => faults),
    [],
  );
});

const linkOf = ({ service }: Stage) => `/first#${service.app.firstLoginSecret}`;

const passwordField = (page: Page) => page.getByLabel('New password');

function stageAt(index: number): Stage {
  const stage = stages[index];
  assert.ok(stage !== undefined);
  return stage;
}

browserTest('the link of the first start asks for a password and logs in, once', async () => {
  const stage = stageAt(0);
  const page = await stage.visit({ width: 'phone' });
  await page.goto(linkOf(stage));
  await passwordField(page).fill('short');
  await page.getByRole('button', { name: 'Set it and log in' }).click();
  await page.getByText('The password needs at least 8 characters.').waitFor();
  await passwordField(page).fill('a-new-password-1');
  await page.getByRole('button', { name: 'Set it and log in' }).click();
  await page.getByRole('heading', { name: 'admin' }).waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await page.goBack();
  assert.ok(!page.url().includes('#'), 'the secret stayed in the history');
  const json = { username: 'admin', password: 'a-new-password-1' };
  const { status } = await stage.service.call({ method: 'POST', path: '/auth/token', json });
  assert.equal(status, 200);
  await page.context().close();

  const again = await stage.visit({ width: 'phone' });
  await again.goto(linkOf(stage));
  await passwordField(again).fill('a-new-password-2');
  await again.getByRole('button', { name: 'Set it and log in' }).click();
  await again.getByText('This link was used, or is older than an hour.').waitFor();
  await again.getByRole('main').getByRole('link', { name: 'Log in' }).click();
  await again.getByLabel('Username or e-mail').waitFor();
  await again.context().close();
});

browserTest('whoever sets no password yet keeps the printed one', async () => {
  const stage = stageAt(1);
  const page = await stage.visit({ width: 'phone' });
  // First a part of it, as it is copied from a terminal with two lines.
  for (const part of ['/first', linkOf(stage).slice(0, 20)]) {
    await page.goto(part);
    if (part !== '/first') await page.getByRole('button', { name: 'Later' }).click();
    await page.getByText('This link was used, or is older than an hour.').waitFor();
  }
  await page.goto(linkOf(stage));
  await page.getByRole('button', { name: 'Later' }).click();
  await page.getByRole('heading', { name: 'admin' }).waitFor();
  const json = { username: 'admin', password: stage.service.generatedPassword };
  const { status } = await stage.service.call({ method: 'POST', path: '/auth/token', json });
  assert.equal(status, 200);
  await page.context().close();
});
