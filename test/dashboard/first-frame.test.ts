import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage, widths } from './browser.ts';
import { type Furniture, furnish, guestScreens, userScreens } from './furnished-house.ts';

let stage: Stage;
let furniture: Furniture;
before(async () => {
  stage = await openStage();
  furniture = await furnish(stage.service);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

/** What the browser calls good is 0.1; nothing on our screens has to move at all. */
const shiftMax = 0.02;

/** Notes every shift with what moved, and the widest that the page ever was. */
const watchFrames = `globalThis.seen = { shift: 0, moved: [], width: 0 };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    seen.shift += entry.value;
    for (const { node, previousRect, currentRect } of entry.sources) {
      seen.moved.push([entry.value.toFixed(3), node?.outerHTML?.slice(0, 90) ?? node?.nodeName,
        previousRect.y, currentRect.y].join(' '));
    }
  }
}).observe({ type: 'layout-shift', buffered: true });
const look = () => {
  const width = document.documentElement?.scrollWidth ?? 0;
  if (width > seen.width) seen.width = width;
  requestAnimationFrame(look);
};
requestAnimationFrame(look);`;

interface Seen {
  readonly shift: number;
  readonly moved: readonly string[];
  readonly width: number;
}

const doneScreen = 'main:has(h1):not(:has(.skeleton)):not(:has([aria-busy=true]))';

/** Every answer comes late and one after the other, as they do where there is little network. */
async function delay(page: Page, waitMs: number): Promise<void> {
  await page.route(/\/(api\/v2|assets\/.*\.js)/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await route.continue().catch(() => undefined);
  });
}

async function lookAt(page: Page, path: string): Promise<readonly string[]> {
  await page.goto(path);
  await page.locator(doneScreen).waitFor();
  await page.waitForLoadState('networkidle');
  const { shift, moved, width } = (await page.evaluate('globalThis.seen')) as Seen;
  return [
    ...(shift > shiftMax ? [`${path}: shifts by ${shift.toFixed(3)}: ${moved.join('\n')}`] : []),
    ...(width > widths.phone ? [`${path}: was ${width} px wide for a moment`] : []),
  ];
}

const pages = new Map<string | undefined, Promise<Page>>();

/** One window for each person, as the files of the web app are loaded once. */
function pageOf(username: string | undefined): Promise<Page> {
  const known = pages.get(username) ?? openPage(username);
  pages.set(username, known);
  return known;
}

async function openPage(username: string | undefined): Promise<Page> {
  const page = await stage.visit({ width: 'phone', ...(username !== undefined && { username }) });
  await page.addInitScript(watchFrames);
  await delay(page, 120);
  return page;
}

/** One test a screen, so that each has the time of a test for itself. */
function frameTest(name: string, username: string | undefined, path: () => string): void {
  browserTest(`nothing moves and nothing is too wide while a phone loads ${name}`, async () => {
    assert.deepEqual(await lookAt(await pageOf(username), path()), []);
  });
}

for (const path of guestScreens) frameTest(`a guest's ${path}`, undefined, () => path);
// The service gives the real identifiers once the house is furnished.
const named = userScreens({ alert: ':alert', project: ':project', group: ':group' });
for (const [index, name] of named.entries()) {
  frameTest(name, 'ama', () => userScreens(furniture)[index] ?? name);
}
frameTest('/users', 'admin', () => '/users');
frameTest('/usage', 'admin', () => '/usage');

browserTest('who has no device yet is not told of a connection', async () => {
  const page = await stage.visit({ username: 'newcomer', width: 'phone' });
  for (const path of ['/', '/map', '/?whose=shared']) {
    await page.goto(path);
    await page.locator(doneScreen).waitFor();
    await page.waitForLoadState('networkidle');
    await page.locator('.live-mark.is-idle').waitFor({ state: 'attached' });
    assert.equal(await page.locator('.live-words .is-now').count(), 0, path);
  }
  await page.context().close();
});

/** The name of a text, as it stands where the text itself is not there. */
const textName =
  /\b(?:age|alerts|chart|common|device|home|live|send|shell|usage)\.[a-z][A-Za-z]+\b/;

browserTest('home says nothing that is not in the first load', async () => {
  for (const [username, language] of [
    ...(['en', 'fr', 'sw', 'pt'] as const).map((one) => ['ama', one] as const),
    ...(['admin', undefined] as const).map((one) => [one, 'en'] as const),
  ]) {
    const page = await stage.visit({ ...(username !== undefined && { username }), language });
    await page.route(/later-words/, (route) => route.abort());
    for (const path of ['/', '/?look=lines']) {
      await page.goto(path);
      await page.locator(doneScreen).waitFor();
      const text = await page.locator('body').innerText();
      const labels = await page
        .locator('[aria-label], [title]')
        .evaluateAll((found) =>
          found.map((one) => `${one.getAttribute('aria-label')} ${one.getAttribute('title')}`),
        );
      assert.doesNotMatch(
        [text, ...labels].join('\n'),
        textName,
        `${username} ${language} ${path}`,
      );
    }
    await page.context().close();
  }
});
