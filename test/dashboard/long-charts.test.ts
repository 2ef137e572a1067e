import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(path: string, json: unknown): Promise<string> {
  const { status, text } = await stage.service.as('ama')({ method: 'POST', path, json });
  assert.ok(status < 300, `${path}: ${status} ${text}`);
  return text;
}

const drawn = '.chart-place[aria-busy=false]';

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator(`${drawn} canvas`).first().waitFor();
}

/**
 * Of each column of pixels, how high the drawing is filled without a break, in CSS pixels: lines of
 * the grid are grey and thin, bars and bands are high and coloured.
 */
const fillScript = `(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const isColour = (at) => {
    const rgb = [...data.slice(at, at + 3)];
    return data[at + 3] > 0 && Math.max(...rgb) - Math.min(...rgb) > 16;
  };
  return Array.from({ length: width }, (_, column) => {
    let [longest, run] = [0, 0];
    for (let row = 0; row < height; row += 1) {
      run = isColour(4 * (row * width + column)) ? run + 1 : 0;
      longest = Math.max(longest, run);
    }
    return longest / devicePixelRatio;
  });
}`;

const fillsOf = async (page: Page): Promise<number[]> =>
  (await page.evaluate(
    `(${fillScript})(document.querySelector('.chart-place[aria-busy=false] canvas'))`,
  )) as number[];

for (const width of Object.keys(widths) as Width[]) {
  browserTest(`a year is its mean within a band of what was measured, on a ${width}`, async () => {
    const id = `year-${width}`;
    await send('/devices', {
      ...{ id, name: 'Year', visibility: 'private' },
      sensors: [{ id: 'TC', name: 'Air', unit: 'DegreeCelsius' }],
    });
    // Four values a day, from 10 to 30 with 18 in the mean.
    const ofDay = [10, 12, 20, 30];
    const now = Date.now();
    const json = Array.from({ length: 360 * ofDay.length }, (_, index) => ({
      value: ofDay[index % ofDay.length],
      timestamp: new Date(now - index * (dayMs / ofDay.length)).toISOString(),
    }));
    await send(`/devices/${id}/sensors/TC/values`, json);
    const page = await stage.visit({ username: 'ama', width });
    const asked = page.waitForRequest((request) => request.url().includes('aggregate=avg'));
    await open(page, `/devices/${id}?range=year`);
    assert.match((await asked).url(), /interval=[12]d/);
    const fills = await fillsOf(page);
    const high = fills.filter((pixels) => pixels > 60).length;
    assert.ok(high > fills.length / 2, `${high} of ${fills.length} columns have a band`);
    await page.locator('.chart-place').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('PageUp');
    const entry = page.locator('.legend-entry');
    await entry.locator('.legend-spread', { hasText: '10 – 30' }).waitFor();
    assert.equal(Number.parseFloat((await entry.locator('.legend-value').textContent()) ?? ''), 18);
    await page.context().close();
  });
}

browserTest('the rain of several devices is bars side by side on their project', async () => {
  const ids = ['hill', 'valley'];
  const sensor = { id: 'RA', name: 'Rain', unit: 'Millimetre', quantity_kind: 'Rainfall' };
  for (const [place, id] of ids.entries()) {
    await send('/devices', { id, name: id, visibility: 'private', sensors: [sensor] });
    const now = Date.now();
    const json = Array.from({ length: 7 * 24 }, (_, hour) => ({
      value: place + 1,
      timestamp: new Date(now - hour * hourMs).toISOString(),
    }));
    await send(`/devices/${id}/sensors/RA/values`, json);
  }
  const project = await send('/projects', { name: 'Rain', device_ids: ids });
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  const asked = page.waitForRequest((request) => request.url().includes('aggregate=sum'));
  await open(page, `/projects/${project}`);
  assert.match((await asked).url(), /interval=1d/);
  for (const [place, name] of ids.entries()) {
    const entry = page.locator('.legend-entry', { hasText: `${name}: Rain` });
    await entry.getByText('in total').waitFor();
    const total = Number.parseFloat((await entry.locator('.legend-value').textContent()) ?? '');
    assert.ok(Math.abs(total - 168 * (place + 1)) <= 2 * (place + 1), `${name}: ${total}`);
  }
  await page.getByText('Each bar is the total of 24 hours.').waitFor();
  // Bars in front of each other would be of one height all over.
  const fills = (await fillsOf(page)).filter((high) => high > 20);
  const highest = Math.max(...fills);
  const low = fills.filter((pixels) => pixels > highest * 0.4 && pixels < highest * 0.6).length;
  const high = fills.filter((pixels) => pixels > highest * 0.9).length;
  assert.ok(low > fills.length / 4 && high > fills.length / 4, `${low} and ${high}`);
  await page.context().close();
});
