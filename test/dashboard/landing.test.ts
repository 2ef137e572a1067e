import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';
import { furnish } from './furnished-house.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  await furnish(stage.service);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest(
  'the first page has a picture, says what this is, and is read in any language',
  async () => {
    const page = await stage.visit({ width: 'phone', language: 'fr' });
    await page.goto('/');
    await page.getByText('Il vous envoie un message').waitFor();
    await page.locator('.welcome svg').first().waitFor();
    await page.getByRole('button', { name: 'Kiswahili' }).tap();
    await page.getByRole('heading', { name: 'Vihisi vyako, mahali pamoja' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Jisajili' }).waitFor();
    await page.context().close();
  },
);

browserTest('a public device says to a guest what the page is, and to nobody else', async () => {
  const page = await stage.visit({ width: 'phone' });
  await page.goto('/devices/public-1');
  await page.getByText('Kipimo keeps and shows what sensors measure.').waitFor();
  await page.getByRole('link', { name: 'What is Kipimo?' }).tap();
  await page.getByRole('heading', { name: 'Your sensors, in one place' }).waitFor();
  await page.context().close();
  const kofi = await stage.visit({ username: 'kofi', width: 'phone' });
  await kofi.goto('/devices/public-1');
  await kofi.getByRole('heading', { name: 'Well' }).waitFor();
  assert.equal(await kofi.getByText('Kipimo keeps and shows').count(), 0);
  await kofi.context().close();
});
