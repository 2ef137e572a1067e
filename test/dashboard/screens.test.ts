import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage, widths } from './browser.ts';
import {
  type Furniture,
  furnish,
  guestScreens,
  nastyText,
  userScreens,
} from './furnished-house.ts';

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

/** One test a screen, so that each has the time of a test for itself. */
function screenTest(name: string, username: string | undefined, path: () => string): void {
  browserTest(`${name} is for everybody, and does not leave the origin`, async () => {
    const page = await stage.visit(username === undefined ? {} : { username });
    assert.deepEqual(await lookAt(page, path()), []);
    await page.context().close();
  });
}

for (const path of guestScreens) screenTest(`a guest's ${path}`, undefined, () => path);
// The service gives the real identifiers once the house is furnished.
const named = userScreens({ alert: ':alert', project: ':project', group: ':group' });
for (const [index, name] of named.entries()) {
  screenTest(name, 'ama', () => userScreens(furniture)[index] ?? name);
}
screenTest('/users', 'admin', () => '/users');
screenTest('/usage', 'admin', () => '/usage');

/** How long a screen may take to settle after its window changed. */
const settleMs = 5_000;

const doneScreen = 'main:has(h1):not(:has(.skeleton)):not(:has([aria-busy=true]))';

/** What is wrong with a screen: hard to read or to use, wider than the window, or never there. */
async function lookAt(page: Page, path: string): Promise<readonly string[]> {
  const problems: string[] = [];
  const policy = (await page.goto(path))?.headers()['content-security-policy'] ?? '';
  if (!policy.startsWith("default-src 'none'") || policy.includes('unsafe')) {
    problems.push(`has the policy "${policy}"`);
  }
  for (const width of Object.values(widths)) {
    await page.setViewportSize({ width, height: 900 });
    await page.locator(doneScreen).waitFor();
    problems.push(...(await accessProblems(page)));
    await page.emulateMedia({ colorScheme: 'dark' });
    problems.push(...(await accessProblems(page, 'color-contrast')));
    await page.emulateMedia({ colorScheme: 'light' });
    const needed = await settledWidth(page, width);
    if (needed > width) problems.push(`needs ${needed} px where there are ${width}`);
    problems.push(...(await boxProblems(page)));
    problems.push(...(await largeTextProblems(page, width)));
  }
  return problems.map((problem) => `${path}: ${problem}`);
}

/** Values that reach over the edge of their tile or are broken, and frames with nothing in them. */
async function boxProblems(page: Page): Promise<readonly string[]> {
  const wide = await page
    .locator('main .tile-value')
    .evaluateAll((boxes) =>
      boxes
        .filter((box) => box.scrollWidth > box.clientWidth)
        .map((box) => `${box.textContent} needs ${box.scrollWidth} px of ${box.clientWidth}`),
    );
  const broken = await page
    .locator('main .tile-value .value.is-wide')
    .evaluateAll((values) =>
      values
        .filter((value) => value.getClientRects().length > 1)
        .map((value) => `${value.textContent} takes two lines of its tile`),
    );
  const empty = await page.locator('main .menu:empty').count();
  return [...wide, ...broken, ...(empty === 0 ? [] : ['draws an empty list'])];
}

/** What is wrong where somebody has set twice the usual size of text. */
async function largeTextProblems(page: Page, width: number): Promise<readonly string[]> {
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
  const problems = await accessProblems(page);
  const needed = await settledWidth(page, width);
  await page.evaluate(`document.documentElement.style.fontSize = ''`);
  const found = needed > width ? [...problems, `needs ${needed} px of ${width}`] : problems;
  return found.map((problem) => `with large text: ${problem}`);
}

/**
 * How wide the page is once it fits, as a chart takes a new width a moment after the window has it.
 * Asked from here: the page's own policy forbids it to look at an expression again and again.
 */
async function settledWidth(page: Page, width: number): Promise<number> {
  const end = Date.now() + settleMs;
  for (;;) {
    const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (needed <= width || Date.now() > end) return needed;
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
  }
}

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** All rules, or one of them. */
async function accessProblems(page: Page, rule?: string): Promise<readonly string[]> {
  const options = { resultTypes: ['violations'], ...(rule !== undefined && { runOnly: [rule] }) };
  const isKnown = await page.evaluate('globalThis.axe !== undefined');
  if (!isKnown) await page.evaluate(axe.source);
  // Runs in the page, where axe is known by then.
  const found = (await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly Finding[];
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary}`,
  );
}

browserTest('names and values with scripts in them are shown as text', async () => {
  const page = await stage.visit({ username: 'ama' });
  const shows = async (path: string): Promise<void> => {
    await page.goto(path);
    await page.getByText(nastyText, { exact: false }).first().waitFor();
    const isRun = await page.evaluate('globalThis.isRun');
    assert.equal(isRun, undefined, path);
    const links = await page.locator('a[href^="javascript:" i], main svg[onload]').count();
    assert.equal(links, 0, path);
  };
  for (const path of ['/', '/devices/nasty', '/devices/nasty/sensors/S1', '/gateways/nasty-gw']) {
    await shows(path);
  }
  await page.goto('/map');
  await page.locator('.map-mark').first().waitFor();
  assert.equal(await page.evaluate('globalThis.isRun'), undefined);
  await page.context().close();
});

browserTest('the keyboard alone logs in and opens a device', async () => {
  const page = await stage.visit();
  await page.goto('/login');
  await page.getByLabel('Username or e-mail').waitFor();
  await tabTo(page, 'INPUT', 'username');
  await page.keyboard.type('ama');
  await page.keyboard.press('Tab');
  await page.keyboard.type('password of ama');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'ama' }).waitFor();
  await page.getByRole('link', { name: 'Field 3' }).first().waitFor();
  await tabTo(page, 'A', '/devices/field-3');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Field 3', level: 1 }).waitFor();
  await page.context().close();
});

const tabsMax = 60;

/** Presses Tab until an element with this name or address has the focus. */
async function tabTo(page: Page, tag: string, text: string): Promise<void> {
  for (let presses = 0; presses < tabsMax; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = (await page.evaluate(
      `[document.activeElement?.tagName, document.activeElement?.getAttribute(
        document.activeElement.tagName === 'A' ? 'href' : 'name')]`,
    )) as readonly [string, string | null];
    if (focused[0] === tag && focused[1] === text) return;
  }
  assert.fail(`${tabsMax} times Tab, and no ${tag} ${text}`);
}

browserTest('Ctrl+K goes to the search, from a screen that has none to that of home', async () => {
  const page = await stage.visit({ username: 'ama' });
  await page.goto('/profile');
  await page.getByRole('heading', { name: 'Profile' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('heading', { name: 'ama' }).waitFor();
  await page.locator('input[type=search]:focus').waitFor();
  await page.keyboard.type('Field');
  await page.getByRole('link', { name: 'Field 3' }).first().waitFor();
  await page.context().close();
});

browserTest('the app offers to be installed where the browser does, and once', async () => {
  const page = await stage.visit({ username: 'ama' });
  await page.goto('/more');
  const button = page.getByRole('button', { name: 'Install this app' });
  await page.getByRole('heading', { name: 'More' }).waitFor();
  assert.equal(await button.count(), 0);
  // What Chromium does when it finds the page worth it; a test window never is.
  await page.evaluate(`{
    const offer = new Event('beforeinstallprompt', { cancelable: true });
    offer.prompt = async () => { globalThis.asked = (globalThis.asked ?? 0) + 1; };
    dispatchEvent(offer);
  }`);
  await button.click();
  await button.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate('globalThis.asked'), 1);
  await page.context().close();
});

browserTest('every screen has an address, and the back button leads back', async () => {
  const page = await stage.visit({ username: 'ama' });
  const title = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.goto('/');
  await page.getByRole('link', { name: 'Field 3' }).first().click();
  await title('Field 3');
  await page.getByRole('link', { name: 'Settings' }).click();
  await title('Settings');
  await page.goBack();
  await title('Field 3');
  await page.goBack();
  await title('ama');
  await page.goForward();
  await title('Field 3');
  assert.equal(new URL(page.url()).pathname, '/devices/field-3');
  await page.context().close();
});

browserTest('a session that ended says so, and goes on after the password', async () => {
  const page = await stage.visit({ username: 'esi' });
  await page.goto('/profile');
  await page.getByLabel('First name').fill('Esi');
  await stage.service.as('esi')({ method: 'DELETE', path: '/auth/token' });
  const save = page
    .getByRole('region', { name: 'About you' })
    .getByRole('button', { name: 'Save' });
  await save.click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('Password').fill('password of esi');
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('First name').inputValue(), 'Esi');
  await save.click();
  await page.getByText('Your profile is saved').waitFor();
  await page.context().close();
});

browserTest('without network the last known values show, and are marked as such', async () => {
  const page = await stage.visit({ username: 'ama', hasServiceWorker: true });
  await page.goto('/');
  await page.getByRole('link', { name: 'Field 3' }).first().waitFor();
  await page.evaluate('navigator.serviceWorker.ready');
  await page.context().setOffline(true);
  await page.reload();
  await page.getByRole('link', { name: 'Field 3' }).first().waitFor();
  await page.getByText('Not refreshed').waitFor();
  await page.context().close();
});
