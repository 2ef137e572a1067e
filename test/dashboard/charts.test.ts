import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
const hourMs = 3_600_000;
const days = 40;

before(async () => {
  stage = await openStage();
  await send('POST', '/devices', {
    ...{ id: 'garden', name: 'Garden', visibility: 'private' },
    sensors: [
      { id: 'TC', name: 'Air', unit: 'DegreeCelsius', quantity_kind: 'AirTemperature' },
      { id: 'TS', name: 'Ground', unit: 'DegreeCelsius' },
      { id: 'SM', name: 'Soil', unit: 'Percent' },
      { id: 'RA', name: 'Rain', unit: 'Millimetre', quantity_kind: 'Rainfall' },
      { id: 'door', name: 'Door' },
    ],
  });
  await push('TC', (hour) => 20 + (hour % 24) / 4);
  await push('TS', (hour) => 18 + (hour % 24) / 8);
  await push('SM', (hour) => 40 + (hour % 9));
  await push('RA', (hour) => (hour % 3 === 0 ? 0.5 : 0));
  await push('door', (hour) => (hour % 6 < 3 ? 'open' : 'closed'));
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(method: string, path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as('ama')({ method, path, json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}

async function push(
  sensor: string,
  valueAt: (hour: number) => unknown,
  device = 'garden',
): Promise<void> {
  const now = Date.now();
  const values = Array.from({ length: days * 24 }, (_, index) => ({
    value: valueAt(index),
    timestamp: new Date(now - (days * 24 - 1 - index) * hourMs).toISOString(),
  }));
  await send('POST', `/devices/${device}/sensors/${sensor}/values`, values);
}

const path = '/devices/garden';
const drawn = '.chart-place[aria-busy=false]';

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator(`${drawn} canvas`).first().waitFor();
}

for (const width of Object.keys(widths) as Width[]) {
  browserTest(`a plot for each unit, one time axis, one readout, on a ${width}`, async () => {
    const page = await stage.visit({ username: 'ama', width });
    await open(page, path);
    assert.deepEqual(await page.locator('.panel-unit').allTextContents(), ['°C', '%', 'mm']);
    assert.equal(await page.locator('.panel canvas').count(), 3);
    assert.equal(await page.locator('.step-lane').count(), 1);
    await page.locator('.chart-place').focus();
    await page.keyboard.press('End');
    for (const [name, text] of [
      ['Air', /°C/],
      ['Soil', /%/],
      ['Rain', /mm/],
      ['Door', /open|closed/],
    ] as const) {
      const said = await page.locator('.legend-entry', { hasText: name }).first().textContent();
      assert.match(said ?? '', text, name);
    }
    assert.notEqual((await page.locator('.chart-when').textContent())?.trim(), '');
    const lane = page.locator('.step-lane');
    const told = (await lane.locator('p').textContent()) ?? '';
    assert.match(told, /^Door: (open|closed) · \w+ \d/);
    await lane.locator('.step').nth(1).click();
    await lane.locator('.step.is-told:nth-child(2)').waitFor();
    assert.notEqual(await lane.locator('p').textContent(), told);
    await page.context().close();
  });
}

browserTest('the legend says of now what the tiles say, however thin the points are', async () => {
  const sensors = [
    { id: 'TC', name: 'Air', unit: 'DegreeCelsius' },
    { id: 'SM', name: 'Soil', unit: 'Percent' },
  ];
  await send('POST', '/devices', { id: 'shed', name: 'Shed', sensors });
  for (const [id, last] of [
    ['TC', 19.5],
    ['SM', 24.06],
  ] as const) {
    const now = Date.now();
    const values = (numbers: readonly number[], eachMs: number, agoMs: number) =>
      numbers.map((value, index) => ({
        value,
        timestamp: new Date(now - agoMs - (numbers.length - 1 - index) * eachMs).toISOString(),
      }));
    // So many that points are averages, and several in the last minute.
    const many = values(new Array(1_300).fill(25), 60_000, 3_600_000);
    const json = [...many, ...values([31, 30, 29, last], 1_000, 0)];
    await send('POST', `/devices/shed/sensors/${id}/values`, json);
  }
  const page = await stage.visit({ username: 'ama', width: 'phone', theme: 'dark' });
  await open(page, '/devices/shed');
  for (const text of ['19.5 °C', '24.06 %']) {
    await page.locator('.legend-value', { hasText: text }).waitFor();
  }
  await page.locator('.chart-place').focus();
  await page.keyboard.press('End');
  await page.locator('.legend-spread', { hasText: '19.5 – 31' }).waitFor();
  // Side by side, values of any length stand at one height.
  const tops = await page
    .locator('.tile-value')
    .evaluateAll((values) => values.map((value) => Math.round(value.getBoundingClientRect().top)));
  assert.equal(new Set(tops).size, 1, tops.join());
  await page.context().close();
});

browserTest('rain is bars of sums, and the readout tells the sum of all of them', async () => {
  const page = await stage.visit({ username: 'ama' });
  await open(page, `${path}/sensors/RA?range=week`);
  const legend = page.locator('.legend-entry', { hasText: 'Rain' });
  await legend.getByText('in total').waitFor();
  // Every third hour of seven days: 56 half millimetres, one more or less at the ends.
  const total = Number.parseFloat((await legend.locator('.legend-value').textContent()) ?? '');
  assert.ok(total >= 27 && total <= 29, String(total));
  await page.locator('.chart-place').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await legend.getByText('4 mm').waitFor();
  await page.context().close();
});

browserTest(
  'tiles tell the lowest, highest and mean of today, on the clock of the zone',
  async () => {
    // Where it is past noon: in the first hour of a day there is no mean to tell.
    const ahead = 12 - new Date().getUTCHours();
    await send('POST', '/devices', {
      ...{ id: 'yard', name: 'Yard', visibility: 'private' },
      timezone: `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`,
      sensors: [{ id: 'TC', name: 'Air', unit: 'DegreeCelsius' }],
    });
    await push('TC', (hour) => 20 + (hour % 24) / 4, 'yard');
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    await open(page, '/devices/yard');
    const dayMs = 24 * hourMs;
    const local = Date.now() + ahead * hourMs;
    const midnight = new Date(local - (local % dayMs) - ahead * hourMs);
    const read = `/sensors_data?device_id=yard&sensor_id=TC&dateFrom=${midnight.toISOString()}`;
    const { json } = await stage.service.as('ama')({ path: `${read}&limit=100` });
    const values = (json as readonly { readonly value: number }[]).map(({ value }) => value);
    assert.ok(values.length >= 12 && values.length <= 13, `${values.length} values today`);
    const line = page.locator('.tiles > li', { hasText: 'Air' }).locator('.tile-today');
    await line.getByText('mean').waitFor();
    const text = (await line.textContent()) ?? '';
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const numbers = (text.match(/[\d.]+/g) ?? []).map(Number);
    assert.deepEqual(numbers.slice(0, 2), [Math.min(...values), Math.max(...values)], text);
    assert.ok(Math.abs((numbers[2] ?? 0) - mean) < 0.006, `${text} ${mean}`);
    await page.context().close();
  },
);

browserTest('the address has the range, and whoever gets it sees the same', async () => {
  const page = await stage.visit({ username: 'ama' });
  await open(page, path);
  await page.getByRole('button', { name: '7 days' }).click();
  await page.waitForURL('**/devices/garden?range=week');
  await page.getByRole('button', { name: 'Custom range' }).click();
  const from = page.getByLabel('From');
  const shown = await from.inputValue();
  await page.getByRole('button', { name: '1 month' }).click();
  await page.waitForURL('**/devices/garden?range=month');
  await changed(page, shown);
  const month = await from.inputValue();
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.waitForURL('**from=*');
  await changed(page, month);
  const closer = await from.inputValue();
  await page.reload();
  await page.locator(`${drawn} canvas`).first().waitFor();
  await page.getByRole('button', { name: 'Custom range' }).click();
  assert.equal(await from.inputValue(), closer);
  assert.equal(
    await page.getByRole('button', { name: 'Custom range' }).getAttribute('aria-pressed'),
    'true',
  );
  await page.context().close();
});

/** The field of the own range follows whatever else changes the range. */
async function changed(page: Page, before: string): Promise<void> {
  const end = Date.now() + 10_000;
  while ((await page.getByLabel('From').inputValue()) === before) {
    assert.ok(Date.now() < end, `the field still says ${before}`);
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
  }
}

browserTest(
  'a device in another zone has its days, and the offsets of the dates shown',
  async () => {
    const page = await stage.visit({ username: 'ama' });
    // What the service answers of a device, with its zone.
    await page.route('**/api/v2/devices/garden', async (route) => {
      const reply = await route.fetch();
      const json = { ...(await reply.json()), timezone: 'Europe/Berlin' };
      await route.fulfill({ response: reply, json });
    });
    const reads: string[] = [];
    page.on('request', (request) => reads.push(request.url()));
    await open(page, `${path}?from=2026-10-20T00:00:00Z&to=2026-10-30T00:00:00Z`);
    await page.getByText('Times are in Europe/Berlin (UTC+2, UTC+1)').waitFor();
    assert.ok(
      reads.some((url) => url.includes('timezone=Europe%2FBerlin')),
      reads.join('\n'),
    );
    await page.getByRole('button', { name: 'Custom range' }).click();
    assert.equal(await page.getByLabel('From').inputValue(), '2026-10-20T02:00');
    assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), '2026-10-30T01:00');
    await page.context().close();
  },
);

browserTest(
  'a finger near a peak finds it, among readings that are drawn as they are',
  async () => {
    await send('POST', '/devices', {
      id: 'oven',
      name: 'Oven',
      sensors: [{ id: 'TC', name: 'Air' }],
    });
    const minutes = 288;
    const now = Date.now();
    const peak = 150;
    const values = Array.from({ length: minutes }, (_, index) => ({
      value: index === peak ? 26 : 20 + (index % 3) / 10,
      timestamp: new Date(now - (minutes - 1 - index) * 5 * 60_000).toISOString(),
    }));
    await send('POST', '/devices/oven/sensors/TC/values', values);
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    await open(page, '/devices/oven');
    const plot = page.locator('.u-over');
    await plot.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    const { x, y, width, height } = (await plot.boundingBox()) ?? assert.fail('there is no plot');
    const at = x + (width * (peak + 1)) / minutes;
    await page.touchscreen.tap(at - 12, y + height / 2);
    await page.locator('.legend-value', { hasText: '26' }).waitFor();
    // The reading itself, at its own time: no average of several.
    assert.equal((await page.locator('.legend-spread').textContent())?.trim(), '');
    await page.getByRole('button', { name: '1 h', exact: true }).click();
    await page.waitForURL('**/devices/oven?range=hour');
    await page.getByText('Times are in').waitFor();
    await page.locator(`${drawn} canvas`).first().waitFor();
    await page.context().close();
  },
);
