import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
const tag = '840380235174088835';
const long = '0.12345678901234567890';

before(async () => {
  stage = await openStage();
  await send('POST', '/devices', {
    ...{ id: 'gate', name: 'Gate', visibility: 'private' },
    sensors: ['tag', 'long', 'version'].map((id) => ({ id, name: id })),
    actuators: [{ id: 'open', actuator_value_type: 'number' }],
  });
  const values = { tag, long, version: '"1.10"' };
  for (const [sensor, value] of Object.entries(values)) {
    await send('POST', `/devices/gate/sensors/${sensor}/value`, `{"value":${value}}`);
  }
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

/** A text is sent as it is: JSON of this process has no more digits than a page. */
async function send(method: string, path: string, body: unknown): Promise<void> {
  const json = typeof body === 'string' ? { body } : { json: body };
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await stage.service.as('ama')({ method, path, headers, ...json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}

async function readText(path: string): Promise<string> {
  return (await stage.service.as('ama')({ path })).text;
}

for (const width of ['phone', 'desktop'] as const) {
  browserTest(`long numbers show all their digits, on a ${width}`, async () => {
    const page = await stage.visit({ username: 'ama', width });
    for (const [path, place] of [
      ['/', '.card-value'],
      ['/devices/gate', '.tile-value'],
    ] as const) {
      await page.goto(path);
      for (const text of [tag, long, '1.10']) {
        await page.locator(place, { hasText: text }).waitFor();
      }
    }
    await page.goto('/devices/gate/sensors/tag');
    await page.locator('.hero', { hasText: tag }).waitFor();
    await page.getByText('Latest values').click();
    await page.locator('td', { hasText: tag }).first().waitFor();
    await page.context().close();
  });
}

browserTest('a long number that comes while somebody looks has all its digits', async () => {
  const page = await stage.visit({ username: 'ama', language: 'fr' });
  await page.goto('/devices/gate');
  await page.locator('.tile-value', { hasText: '0,12345678901234567890' }).waitFor();
  await page.locator('.live-mark.is-live').waitFor();
  const next = '0.12345678901234567891';
  await send('POST', '/devices/gate/sensors/long/value', `{"value":${next}}`);
  await page.locator('.tile-value', { hasText: next.replace('.', ',') }).waitFor();
  await page.context().close();
});

browserTest('what is typed keeps its digits: actuators, corrections, test values', async () => {
  const page = await stage.visit({ username: 'ama' });
  await page.goto('/devices/gate');
  const field = page.locator('.control input');
  await field.fill(tag);
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.locator('.toast').waitFor();
  assert.equal(await readText('/devices/gate/actuators/open/value'), tag);
  await page.reload();
  assert.equal(await field.inputValue(), tag);
  await page.goto('/devices/gate/sensors/tag');
  await page.locator('.chart-place[aria-busy=false] canvas').first().waitFor();
  await page.locator('.chart-place').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'This is wrong' }).click();
  await page.getByLabel('What it should be').fill('840380235174088836,5');
  await page.getByRole('button', { name: 'Correct it' }).click();
  await page.locator('.hero', { hasText: '840380235174088836.5' }).waitFor();
  await page.context().close();
});
