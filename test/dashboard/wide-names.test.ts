import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import type { Service } from '../service.ts';
import { browserTest, openStage, type Stage, widths } from './browser.ts';

// A stranger chooses the names of what is shared with somebody, or offered.

const word = 'W'.repeat(1_000);
const ids = { device: 'wide', sensor: 'S1', text: 'S2', actuator: 'A1', gateway: 'wide-gw' };

interface Wide {
  readonly project: string;
  readonly alert: string;
}

let stage: Stage;
let wide: Wide;
before(async () => {
  stage = await openStage();
  await stage.service.tokenOf('kofi');
  wide = await shareWide(stage.service);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function shareWide(service: Service): Promise<Wide> {
  const ama = service.as('ama');
  const send = async (method: string, path: string, json: unknown): Promise<string> => {
    const { status, text } = await ama({ method, path, json });
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return text;
  };
  await send('POST', '/gateways', { id: ids.gateway, name: word, visibility: 'private' });
  const device = {
    ...{ name: word, domain: word, visibility: 'private', gateway_id: ids.gateway },
    location: { latitude: 5.6, longitude: -0.2 },
    sensors: [
      { id: ids.sensor, name: word, sensing_device: word, quantity_kind: word, unit: word },
      { id: ids.text, name: word },
    ],
    actuators: [{ id: ids.actuator, name: word, value_type: 'string', value: word }],
  };
  await send('POST', '/devices', { ...device, id: ids.device });
  await send('POST', '/devices', { ...device, id: 'offered' });
  for (const value of [20.5, 21.25]) {
    await send('POST', `/devices/${ids.device}/sensors/${ids.sensor}/value`, { value });
  }
  await send('POST', `/devices/${ids.device}/sensors/${ids.text}/value`, { value: word });
  const project = await send('POST', '/projects', {
    ...{ name: word, device_ids: [ids.device], gateway_ids: [ids.gateway] },
  });
  const alert = await send('POST', '/notifications', {
    description: word,
    condition: { devices: [ids.device], sensors: [ids.sensor], expression: 'S1 > 30' },
    action: { usernames: ['ama'], channels: ['sms'], message: word },
    throttling: 3_600,
  });
  const rights = ['devices:view', 'devices-data:view'];
  await send('PUT', `/devices/${ids.device}/grants/kofi`, rights);
  await send('PUT', `/gateways/${ids.gateway}/grants/kofi`, ['gateways:view']);
  await send('PUT', `/projects/${project}/grants/kofi`, ['projects:view']);
  await ama({ method: 'PUT', path: '/devices/offered/owner', body: 'kofi' });
  return { project, alert };
}

const screensOf = ({ project, alert }: Wide): readonly (readonly [string, string])[] => [
  ['kofi', '/'],
  ['kofi', '/map'],
  ['kofi', `/devices/${ids.device}`],
  ['kofi', `/devices/${ids.device}/settings`],
  ['kofi', `/devices/${ids.device}/data`],
  ['kofi', `/devices/${ids.device}/sensors/${ids.sensor}`],
  ['kofi', `/devices/${ids.device}/sensors/${ids.text}`],
  ['kofi', `/devices/${ids.device}/actuators/${ids.actuator}`],
  ['kofi', '/devices/offered'],
  ['kofi', `/gateways/${ids.gateway}`],
  ['kofi', '/gateways'],
  ['kofi', '/projects'],
  ['kofi', `/projects/${project}`],
  ['kofi', `/alerts/new?device=${ids.device}&sensor=${ids.sensor}`],
  ['ama', '/alerts'],
  ['ama', '/messages'],
  ['ama', '/sharing'],
  ['ama', `/alerts/${alert}`],
  ['ama', `/alerts/${alert}/edit`],
  ['ama', `/devices/${ids.device}/settings`],
  ['ama', `/devices/${ids.device}/share`],
];

const doneScreen = 'main:has(h1):not(:has(.skeleton)):not(:has([aria-busy=true]))';

/** Elements that reach over the right edge of the window, but for those inside a scrolled box. */
const overhanging = `(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let at = element.parentElement; at !== null; at = at.parentElement) {
      if (!['visible'].includes(getComputedStyle(at).overflowX)) return at.clientWidth <= width;
    }
    return false;
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element))
    .slice(0, 3)
    .map((element) => element.parentElement?.className + '>' + element.outerHTML.slice(0, 60));
})()`;

/** Drawings that a long name beside them leaves no width. */
const squeezed = `[...document.querySelectorAll('svg[width="1.25rem"]')]
  .filter((svg) => {
    const { width, height } = svg.getBoundingClientRect();
    return width < height - 1;
  })
  .slice(0, 3)
  .map((svg) => svg.parentElement?.outerHTML.slice(0, 60))`;

async function tooWide(page: Page, width: number): Promise<readonly string[]> {
  const icons = (await page.evaluate(squeezed)) as readonly string[];
  if (icons.length > 0) return [`squeezes at ${width} px: ${icons.join(' | ')}`];
  const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
  const over = (await page.evaluate(overhanging)) as readonly string[];
  if (needed <= width && over.length === 0) return [];
  return [`needs ${needed} of ${width} px: ${over.join(' | ')}`];
}

browserTest('names of 1,000 letters without a blank stay within every screen', async () => {
  const problems: string[] = [];
  const pages = new Map<string, Page>();
  for (const [username, path] of screensOf(wide)) {
    const page = pages.get(username) ?? (await stage.visit({ username }));
    pages.set(username, page);
    await page.goto(path);
    for (const width of Object.values(widths)) {
      await page.setViewportSize({ width, height: 900 });
      await page.locator(doneScreen).waitFor();
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
      problems.push(...(await tooWide(page, width)).map((one) => `${username} ${path}: ${one}`));
    }
  }
  for (const page of pages.values()) await page.context().close();
  assert.deepEqual(problems, []);
});

/** Values that are higher than three lines of their text. */
const highValues = `[...document.querySelectorAll('.value')]
  .map((value) => [value.getBoundingClientRect(), getComputedStyle(value)])
  .map(([{ height }, { fontSize }]) => height / parseFloat(fontSize))
  .filter((height) => height > 5)`;

browserTest('a value of 1,000 letters takes three lines, wherever it is shown', async () => {
  const page = await stage.visit({ username: 'kofi', width: 'phone' });
  const device = `/devices/${ids.device}`;
  for (const path of ['/', device, `${device}/sensors/${ids.text}`]) {
    await page.goto(path);
    await page.locator('.value', { hasText: word }).first().waitFor();
    assert.deepEqual(await page.evaluate(highValues), [], path);
  }
  await page.context().close();
});
