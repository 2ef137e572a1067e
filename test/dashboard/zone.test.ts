import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function deviceOf(id: string): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await stage.service.as('ama')({ path: `/devices/${id}` });
  return json as Readonly<Record<string, unknown>>;
}

async function makeDevice(id: string): Promise<void> {
  const as = stage.service.as('ama');
  const sensors = [{ id: 'TC', name: 'Air', unit: 'DegreeCelsius' }];
  const json = { id, name: 'Terrace', domain: 'tea', visibility: 'private', sensors };
  assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  const path = `/devices/${id}/sensors/TC/value`;
  assert.equal((await as({ method: 'POST', path, json: { value: 21 } })).status, 204);
}

const zoneField = (page: Page) => page.getByLabel('Time zone');
const save = (page: Page) => page.getByRole('button', { name: 'Save' }).first().click();

for (const width of Object.keys(widths) as Width[]) {
  const theme = width === 'phone' ? 'dark' : 'light';
  browserTest(`a device has the time zone that its settings say, on a ${width}`, async () => {
    const id = `terrace-${width}`;
    await makeDevice(id);
    const page = await stage.visit({ username: 'ama', width, theme });
    await page.goto(`/devices/${id}/settings`);
    await page.getByText('If empty, in the viewer’s.').waitFor();
    await page.getByRole('button', { name: 'Use Africa/Accra' }).click();
    assert.equal(await zoneField(page).inputValue(), 'Africa/Accra');
    await zoneField(page).fill('Asia/Katmandoo');
    await save(page);
    await page.getByText('This time zone is not known.').waitFor();
    assert.equal((await deviceOf(id))['timezone'], undefined);
    await zoneField(page).fill(' Asia/Kathmandu ');
    await page.getByText(/^It is .*\d\d:\d\d there now/).waitFor();
    await page.getByLabel('Field of use').fill('');
    await save(page);
    await page.getByText('Times are in Asia/Kathmandu (UTC+5:45)').waitFor();
    const { timezone, domain, name } = await deviceOf(id);
    assert.deepEqual([timezone, domain, name], ['Asia/Kathmandu', undefined, 'Terrace']);
    await seeItsDays(page, id);
    await page.goto(`/devices/${id}/settings`);
    await zoneField(page).fill('');
    await save(page);
    await page.getByText('Times are in Africa/Accra').waitFor();
    assert.equal((await deviceOf(id))['timezone'], undefined);
    await page.context().close();
  });
}

/** Its days and clock times on the other screens. */
async function seeItsDays(page: Page, id: string): Promise<void> {
  await page.goto(`/devices/${id}/sensors/TC`);
  await page.getByText('Latest values').click();
  await page.locator('details[open]').getByText('Asia/Kathmandu (UTC+5:45)').waitFor();
  await page.goto(`/devices/${id}/data`);
  await page.getByRole('button', { name: 'own range' }).click();
  await page.getByText('Days begin and end in Asia/Kathmandu (UTC+5:45)').waitFor();
  const asked = page.waitForRequest((request) => request.url().includes('dateFrom=2026-03-01'));
  await page.getByLabel('From').fill('2026-03-02');
  const { searchParams } = new URL((await asked).url());
  assert.equal(searchParams.get('dateFrom'), '2026-03-01T18:15:00.000Z');
}
