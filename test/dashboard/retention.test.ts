import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
const dayMs = 86_400_000;

before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function ask(method: string, path: string, json?: unknown): Promise<unknown> {
  const as = stage.service.as('ama');
  const reply = await as({ method, path, ...(json !== undefined && { json }) });
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.json;
}

/** A value of each of the last hundred days. */
async function makeDevice(id: string): Promise<void> {
  await ask('POST', '/devices', { id, name: id, sensors: [{ id: 'TC', name: 'Air' }] });
  const values = Array.from({ length: 100 }, (_, n) => ({
    value: n,
    timestamp: new Date(Date.now() - n * dayMs).toISOString(),
  }));
  await ask('POST', `/devices/${id}/sensors/TC/values`, values);
}

const daysOf = async (path: string): Promise<readonly unknown[]> => {
  const { raw_days, hourly_days, source } = (await ask('GET', `${path}/retention`)) as Record<
    string,
    unknown
  >;
  return [raw_days, hourly_days, source];
};

async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'] });
  const found = (await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations)`,
  )) as readonly { readonly id: string; readonly impact: string | null }[];
  const grave = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(grave, []);
}

browserTest(
  'the owner sets on a phone how long a sensor keeps values, and takes it back',
  async () => {
    await makeDevice('well');
    const page = await stage.visit({ username: 'ama', width: 'phone' });
    await page.goto('/devices/well/sensors/TC');
    await page.getByText('How long values are kept').tap();
    await page.getByText('All values are kept for ever.').waitFor();
    await page.getByLabel('Days that values are kept').fill('ninety');
    await page.getByRole('button', { name: 'Save' }).last().tap();
    await page.getByText('Enter a whole number of days').waitFor();
    await page.getByLabel('Days that values are kept').fill('90');
    await page.getByLabel('Days that hourly summaries are kept').fill('30');
    await page.getByRole('button', { name: 'Save' }).last().tap();
    await page.getByText('Hourly summaries are kept at least as long as values.').waitFor();
    await page.getByLabel('Days that hourly summaries are kept').fill('3650');
    await page.getByRole('button', { name: 'Save' }).last().tap();
    await page.locator('dialog', { hasText: '9 values are that old today.' }).waitFor();
    assert.deepEqual(await daysOf('/devices/well/sensors/TC'), [null, null, 'service']);
    await page.getByRole('button', { name: 'Delete old values' }).tap();
    await page.getByText(/Values are kept for 90 days\..*This is set for the sensor\./).waitFor();
    assert.deepEqual(await daysOf('/devices/well/sensors/TC'), [90, 3650, 'sensor']);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Use the general setting' }).tap();
    await page.locator('dialog').getByRole('button', { name: 'Use the general setting' }).tap();
    await page.getByText('All values are kept for ever.').waitFor();
    assert.deepEqual(await daysOf('/devices/well/sensors/TC'), [null, null, 'service']);
    await page.context().close();
  },
);

browserTest('the account says it for all devices, and a device may keep more', async () => {
  await makeDevice('pond');
  const page = await stage.visit({ username: 'ama', width: 'desktop' });
  await page.goto('/profile');
  await page.getByText('How long values are kept').click();
  await page.getByLabel('Days that values are kept').fill('365');
  const account = page.locator('details', { hasText: 'How long values are kept' });
  await account.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Delete old values' }).click();
  await account
    .getByText(/Values are kept for 365 days\..*Nothing is deleted before .*\./)
    .waitFor();
  await assertAccessible(page);
  await page.goto('/devices/pond/settings');
  await page.getByText('How long values are kept').click();
  await page.getByText('This is set for the account of the owner.').waitFor();
  await page.getByLabel('Days that values are kept').fill('');
  await page.getByRole('button', { name: 'Save' }).last().click();
  await page.getByText('This is set for the device.').waitFor();
  assert.deepEqual(await daysOf('/devices/pond'), [null, null, 'device']);
  await page.context().close();
});
