import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { type Language, languages } from '../../dashboard/i18n/languages.ts';
import { refusalPatterns } from '../../src/wire/refusal-patterns.ts';
import { browserTest, openStage, type Stage } from './browser.ts';
import { type Furniture, furnish, guestScreens, userScreens } from './furnished-house.ts';

let stage: Stage;
let furniture: Furniture;
let userPath = '';
before(async () => {
  stage = await openStage();
  furniture = await furnish(stage.service);
  const json = { firstName: 'Aïssatou', phone: ['+221771234567'], email: 'aissatou@example.org' };
  const { status } = await stage.service.as('ama')({ method: 'PUT', path: '/users/me', json });
  assert.equal(status, 204);
  // Somebody without a telephone number, whom an alert cannot reach.
  const alert = {
    condition: { devices: ['field-3'], sensors: ['TC'], expression: 'TC > 40' },
    action: { usernames: ['kofi'], channels: ['sms'], message: '{TC}' },
  };
  const made = { method: 'POST', path: '/notifications', json: alert };
  assert.equal((await stage.service.as('ama')(made)).status, 200);
  const { json: me } = await stage.service.as('ama')({ path: '/users/me' });
  userPath = `/users/${(me as { readonly id: string }).id}`;
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const doneScreen = 'main:has(h1):not(:has(.skeleton)):not(:has([aria-busy=true]))';

/** What is laid out badly: rows that wrap, labels and words in two lines, and text that is cut. */
const faultsOfLayout = String.raw`(() => {
  const faults = new Set();
  const isShown = (element) =>
    element.getClientRects().length > 0 && element.closest('.unseen, .skip') === null;
  const nameOf = (element) =>
    element.className + ' "' + element.textContent.trim().slice(0, 40) + '"';
  // The furnished house has names as a stranger might choose them: those break where they must.
  const isNasty = (text) => text.includes('globalThis');
  const linesAt = (rects) => new Set([...rects].map(({ top }) => Math.round(top))).size;
  const rows = '.segments:not(.segments-grid, .segments-column), .nav-list, .actions';
  for (const row of document.querySelectorAll(rows)) {
    const parts = [...row.children].filter(isShown);
    const lines = linesAt(parts.map((part) => part.getBoundingClientRect()));
    if (lines > 1) faults.add('wraps: ' + nameOf(row));
    const hidden = row.scrollWidth - row.clientWidth;
    if (hidden > 1) faults.add('hides its end by ' + hidden + ' px: ' + nameOf(row));
  }
  const range = document.createRange();
  const linesOf = (node, from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return linesAt(range.getClientRects());
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const text = node.nodeValue;
    const parent = node.parentElement;
    if (text.trim() === '' || isNasty(text) || !isShown(parent)) continue;
    const isLabel = parent.closest('.segment, .nav-link, .actions .button') !== null;
    if (isLabel && linesOf(node, 0, text.length) > 1) faults.add('two lines: ' + nameOf(parent));
    if (parent.closest('code, .mono, .code') !== null) continue;
    for (const { index, 0: word } of text.matchAll(/\+?[\p{L}\p{N}_’]+/gu)) {
      const isBroken = word.length <= 20 && linesOf(node, index, index + word.length) > 1;
      if (isBroken) faults.add('broken word: ' + word + ' in ' + nameOf(parent));
    }
  }
  const elements = 'body *:not(.leaflet-container, .leaflet-container *)';
  for (const element of document.querySelectorAll(elements)) {
    if (element.scrollWidth <= element.clientWidth + 1 || !isShown(element)) continue;
    const { overflowX, textOverflow } = getComputedStyle(element);
    const isCut = overflowX === 'hidden' || overflowX === 'clip' || textOverflow === 'ellipsis';
    const text = element.textContent;
    if (isCut && text !== '' && !isNasty(text)) faults.add('cut: ' + nameOf(element));
  }
  const brush = document.createElement('canvas').getContext('2d');
  for (const input of document.querySelectorAll('input[placeholder]')) {
    if (!isShown(input)) continue;
    const { font, paddingLeft, paddingRight } = getComputedStyle(input);
    brush.font = font;
    const place = input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const needed = Math.round(brush.measureText(input.placeholder).width - place);
    if (needed > 0) faults.add('cut by ' + needed + ' px: ' + input.placeholder);
  }
  for (const select of document.querySelectorAll('select')) {
    const chosen = select.selectedOptions[0]?.textContent ?? '';
    if (!isShown(select) || isNasty(chosen)) continue;
    const { font, paddingLeft, paddingRight } = getComputedStyle(select);
    brush.font = font;
    // The arrow takes as much as a letter is high.
    const place = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - 16;
    const needed = Math.round(brush.measureText(chosen).width - place);
    if (needed > 0) faults.add('cut by ' + needed + ' px: ' + chosen);
  }
  return [...faults];
})()`;

/** Sentences of the service, with anything in their blanks; short ones could be anybody's. */
const ofService = Object.values(refusalPatterns)
  .flat()
  .map((sentence) => sentence.split(/\{[\w*]*\}/))
  .filter((texts) => texts.join('').length >= 16)
  .map((texts) => new RegExp(texts.map(RegExp.escape).join('.{0,80}?')));

async function walk(
  page: Page,
  paths: readonly string[],
  language: Language,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const path of paths) {
    await page.goto(path);
    await page.locator(doneScreen).waitFor();
    const faults = (await page.evaluate(faultsOfLayout)) as readonly string[];
    problems.push(...faults.map((fault) => `${path}: ${fault}`));
    if (language === 'en') continue;
    // What is said in a sentence comes with the words of the language.
    for (const line of (await page.locator('main').innerText()).split('\n')) {
      if (ofService.some((pattern) => pattern.test(line))) problems.push(`${path}: says ${line}`);
      // A colon stands after a space, but in times, addresses and what people wrote.
      const isOdd = /^[\p{L} ]*\p{L}: /u.test(line) && !/^(API|MQTT|Water|Field 3)/.test(line);
      if (language === 'fr' && isOdd) problems.push(`${path}: colon in ${line}`);
    }
  }
  return problems;
}

for (const language of languages) {
  browserTest(`on a phone no row wraps and no word is cut, in ${language}`, async () => {
    const visits = [
      { username: 'ama', paths: userScreens(furniture) },
      { username: undefined, paths: guestScreens },
      { username: 'admin', paths: ['/users', '/usage', userPath] },
    ];
    const problems: string[] = [];
    for (const { username, paths } of visits) {
      const who = username === undefined ? {} : { username };
      const page = await stage.visit({ ...who, width: 'phone', language });
      problems.push(...(await walk(page, paths, language)));
      await page.context().close();
    }
    assert.deepEqual(problems, []);
  });
}

browserTest(
  'a device on a phone shows its values and begins its chart above the fold',
  async () => {
    const page = await stage.visit({ username: 'ama', width: 'phone', language: 'fr' });
    await page.goto('/devices/field-3');
    await page.locator('.plot').first().waitFor();
    const fold = (await page.locator('.nav').boundingBox())?.y ?? 0;
    const tile = await page.locator('.tiles > li').last().boundingBox();
    const plot = await page.locator('.plot').first().boundingBox();
    assert.ok(tile !== null && tile.y + tile.height < fold, `values end at ${tile?.y} of ${fold}`);
    assert.ok(plot !== null && plot.y < fold, `the chart begins at ${plot?.y} of ${fold}`);
    await page.context().close();
  },
);
