import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
const dayMs = 86_400_000;
const midnight = Math.floor(Date.now() / dayMs) * dayMs;
const energy = { unit: 'KiloWattHour', quantity_kind: 'Energy' };

/** What each sensor said before today and today, and what its tile says of today. */
const zoo: readonly {
  readonly sensor: { readonly id: string } & Readonly<Record<string, unknown>>;
  readonly before: readonly number[];
  readonly today: readonly number[];
  readonly total: string;
}[] = [
  {
    sensor: { id: 'house', ...energy },
    before: [20_411.3],
    today: [20_418.5, 20_418.55],
    total: '7.25',
  },
  { sensor: { id: 'flat', ...energy }, before: [], today: [100, 100, 100], total: '0' },
  {
    sensor: { id: 'zero', ...energy, measures: 'counter' },
    before: [900, 905],
    today: [0, 910, 927],
    total: '22',
  },
  {
    sensor: { id: 'dip', measures: 'counter' },
    before: [215.6, 215.7],
    today: [215.6, 215.8],
    total: '0.2',
  },
  { sensor: { id: 'again', measures: 'counter' }, before: [100], today: [5, 7], total: '7' },
  { sensor: { id: 'below', measures: 'counter' }, before: [-10], today: [-8.5, 1], total: '11' },
  {
    sensor: { id: 'rain', quantity_kind: 'Rainfall' },
    before: [],
    today: [0.2, 0.4, 0.8],
    total: '1.4',
  },
];

before(async () => {
  stage = await openStage();
  await send('POST', '/devices', {
    ...{ id: 'meters', name: 'Meters', visibility: 'private', timezone: 'UTC' },
    sensors: zoo.map(({ sensor }) => ({ name: sensor.id, ...sensor })),
  });
  for (const { sensor, before: earlier, today } of zoo) {
    const at = (ms: number) => new Date(ms).toISOString();
    await send('POST', `/devices/meters/sensors/${sensor.id}/values`, [
      ...earlier.map((value, n) => ({ value, timestamp: at(midnight - (5 - n) * 3_600_000) })),
      ...today.map((value, n) => ({ value, timestamp: at(midnight + n * 1_000) })),
    ]);
  }
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(method: string, path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as('ama')({ method, path, json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}

const tileOf = (page: Page, id: string) =>
  page.locator('.tiles > li', { has: page.locator('.tile-name', { hasText: id }) });

browserTest('tiles and charts say the totals that the API computes', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/devices/meters');
  for (const { sensor, total } of zoo) {
    const today = tileOf(page, sensor.id).locator('.tile-today', { hasText: 'Today' });
    const text = ((await today.textContent()) ?? '').replaceAll('\u00a0', ' ');
    assert.match(text, new RegExp(`^Today ${total.replace('.', '\\.')}( |$)`), sensor.id);
  }
  const isoMidnight = new Date(midnight).toISOString();
  await page.goto(
    `/devices/meters?from=${isoMidnight.slice(0, 19)}Z&to=${isoMidnight.slice(0, 10)}T04:00:00Z`,
  );
  for (const { sensor, total } of zoo) {
    const value = page
      .locator('.legend-entry', { hasText: sensor.id })
      .locator('.legend-value', { hasText: new RegExp(`^${total.replace('.', '\\.')}( |$)`) });
    await value.waitFor();
  }
  await page.context().close();
});

browserTest(
  'the total of a chart is that of the API for its range, whatever its bars say',
  async () => {
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    let asked: string | undefined;
    // Bars that would add up to something else.
    await page.route('**/api/v2/sensors_data?*interval=1h*', async (route) => {
      const answer = await route.fetch();
      const bars = (await answer.json()) as readonly Record<string, unknown>[];
      await route.fulfill({
        response: answer,
        json: bars.map((bar) => ({ ...bar, increase: 1_000 })),
      });
    });
    page.on('request', (request) => {
      const url = decodeURIComponent(request.url());
      if (url.includes('aggregate=sum,increase') && !url.includes('interval=')) asked = url;
    });
    const [from, to] = [midnight - 48 * 3_600_000, midnight + 24 * 3_600_000].map((at) =>
      new Date(at).toISOString().replace('.000Z', 'Z'),
    );
    await page.goto(`/devices/meters?from=${from}&to=${to}`);
    const entry = page.locator('.legend-entry', { hasText: 'dip' });
    await entry.locator('.legend-value', { hasText: /^0\.2( |$)/ }).waitFor();
    assert.ok(asked !== undefined);
    await page.context().close();
  },
);

browserTest('a sensor of which nobody said what it measures asks its owner, once', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/devices/meters');
  const note = page.locator('.note', { hasText: 'looks like a meter that counts up' });
  await note.filter({ hasText: 'house' }).waitFor();
  await note.getByRole('button', { name: 'Yes' }).click();
  await note.filter({ hasText: 'flat' }).waitFor();
  const { json } = await stage.service.as('ama')({ path: '/devices/meters/sensors/house' });
  assert.equal((json as { measures?: string }).measures, 'counter');
  await page.context().close();
});
