import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { languages } from '../../dashboard/i18n/languages.ts';
import { quickPhone, slowDown } from '../../scripts/slow-phone.ts';
import { passwordOf } from '../service.ts';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';
import { furnish } from './furnished-house.ts';

// The first minutes of a maker, a cooperative's member and an administrator, in each language: by
// addresses and roles alone, so that no walk needs the words of a language.

const shiftMax = 0.02;
const doneScreen = 'main:has(h1):not(:has(.skeleton)):not(:has([aria-busy=true]))';

let stage: Stage;
before(async () => {
  stage = await openStage();
  await furnish(stage.service);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const watchShifts = `globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
}).observe({ type: 'layout-shift', buffered: true });`;

/** What is wrong with the screen: hard to use, in motion, or wider than the window. */
async function problemsOf(page: Page, width: Width): Promise<readonly string[]> {
  await page.locator(doneScreen).waitFor();
  const path = new URL(page.url()).pathname;
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    'axe.run().then(({ violations }) => violations)',
  )) as readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  const shift = Number(await page.evaluate('globalThis.shift'));
  const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
  return [
    ...found.map(({ id, nodes }) => `${path}: ${id} ${nodes[0]?.html}`),
    ...(shift > shiftMax ? [`${path}: moves by ${shift}`] : []),
    ...(needed > widths[width] ? [`${path}: needs ${needed} px`] : []),
  ];
}

/** A maker: from the first page to the first value of a new device. */
async function make(page: Page, look: () => Promise<void>, username: string): Promise<void> {
  await page.goto('/');
  await look();
  await page.locator('main a[href="/signup"]').click();
  await page.locator('input[name=username]').fill(username);
  await page.locator('input[name=password]').fill(passwordOf(username));
  await look();
  await page.locator('main form button[type=submit]').click();
  await page.locator('.home-head').waitFor();
  await look();
  await page.goto('/new-device');
  await page.locator('main form input').first().fill(`Field of ${username}`);
  await page.locator('main form button[type=submit]').click();
  await page.locator('.chip').nth(2).click();
  await look();
  await page.locator('main form button[type=submit]').click();
  await page.locator('.waiting').waitFor();
  await look();
  const id = new URL(page.url()).searchParams.get('device') ?? '';
  const push = { method: 'POST', path: `/devices/${id}/sensors/SM/value`, json: { value: 31 } };
  assert.equal((await stage.service.as(username)(push)).status, 204);
  await page.locator('.arrived').waitFor();
  await page.locator(`main a[href="/devices/${id}"]`).click();
  await page.locator('.tile', { hasText: '31' }).waitFor();
  await look();
}

/** Addresses that others visit one after the other. */
const visits = [
  {
    // A member of a cooperative, with whom a device is shared.
    username: 'kofi',
    paths: ['/', '/?whose=shared', '/devices/field-3', '/alerts/new?device=field-3&sensor=SM'],
  },
  { username: 'admin', paths: ['/', '/users', '/usage', '/sharing', '/profile/developers'] },
] as const;

for (const language of languages) {
  for (const width of Object.keys(widths) as Width[]) {
    browserTest(`the first week holds on a ${width}, in ${language}`, async () => {
      const problems: string[] = [];
      const open = async (username?: string): Promise<Page> => {
        const page = await stage.visit({ width, language, ...(username && { username }) });
        await page.addInitScript(watchShifts);
        if (width === 'phone') await slowDown(page, quickPhone);
        return page;
      };
      const maker = await open();
      const look = async (): Promise<void> => {
        problems.push(...(await problemsOf(maker, width)));
      };
      await make(maker, look, `maker-${language}-${width}`);
      await maker.context().close();
      for (const { username, paths } of visits) {
        const page = await open(username);
        for (const path of paths) {
          await page.goto(path);
          problems.push(...(await problemsOf(page, width)));
        }
        await page.context().close();
      }
      assert.deepEqual(problems, []);
    });
  }
}
