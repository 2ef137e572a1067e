import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { passwordOf } from '../service.ts';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

for (const width of Object.keys(widths) as Width[]) {
  browserTest(
    `an alert said as a sentence sends, and tells what it did, on a ${width}`,
    async () => {
      const owner = `ama-${width}`;
      const device = `field-${width}`;
      const ama = stage.service.as(owner);
      await ama({
        ...{ method: 'POST', path: '/devices' },
        json: { id: device, sensors: [{ id: 'SM', name: 'Soil', unit: 'Percent' }] },
      });
      await ama({ method: 'PUT', path: '/users/me', json: { phone: ['+233201234567'] } });
      await push(device, owner, 40);
      const page = await stage.visit({ width, username: owner });
      await makeAlert(page, device);
      const { json } = await ama({ path: '/notifications' });
      assert.deepEqual((json as readonly { condition: unknown }[])[0]?.condition, {
        devices: [device],
        sensors: ['SM'],
        expression: 'SM < 30; clear SM > 35.5',
        max_age: 3_600,
      });
      await push(device, owner, 20);
      await page.reload();
      await page.getByText(`${device}: Soil 20 %`).first().waitFor();
      await page.getByText('The condition held: the alert fired.').waitFor();
      assert.ok(stage.channels.sent.some(({ text }) => text === `${device}: Soil 20 %`));
      await page.goto('/');
      await page.getByText('1 device needs attention').waitFor();
      await page.getByText('Soil is below 30 %').waitFor();
      await pauseAndDelete(page);
      await page.context().close();
    },
  );
}

async function push(device: string, owner: string, value: number): Promise<void> {
  const path = `/devices/${device}/sensors/SM/value`;
  const { status } = await stage.service.as(owner)({ method: 'POST', path, json: { value } });
  assert.equal(status, 204);
}

async function makeAlert(page: Page, device: string): Promise<void> {
  await page.goto(`/devices/${device}`);
  await page.getByRole('link', { name: 'Alert me' }).click();
  const values = page.getByLabel(/^Value/);
  await values.first().fill('30');
  await page.getByText('It would not have fired in the last month.').waitFor();
  await page.getByRole('button', { name: 'Again only after…' }).click();
  await values.nth(1).fill('35,5');
  // A way that is set up, and reaches its user, is chosen already.
  const sms = page.getByRole('button', { name: 'SMS', exact: true, pressed: true });
  await sms.waitFor();
  await sms.click();
  await page.getByRole('button', { name: 'Switch the alert on' }).click();
  await page.getByText('Choose at least one way to send it.').waitFor();
  await page.getByRole('button', { name: 'SMS', exact: true }).click();
  await page.getByRole('button', { name: 'Switch the alert on' }).click();
  await page.getByText('Nothing has been sent yet.').waitFor();
}

async function pauseAndDelete(page: Page): Promise<void> {
  await page.goto('/alerts');
  await page.getByRole('switch').click();
  await page.getByText('paused').waitFor();
  await page.getByRole('link', { name: 'Send SMS' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('You have no alerts yet').waitFor();
}

browserTest('charts of several devices name them, and say the value of now', async () => {
  const as = stage.service.as('esi');
  const devices = ['n-1', 's-1'];
  for (const [index, id] of devices.entries()) {
    const sensors = [{ id: 'SM', name: 'Soil', unit: 'Percent', quantity_kind: 'SoilHumidity' }];
    const name = index === 0 ? 'North field' : 'South field';
    await as({ method: 'POST', path: '/devices', json: { id, name, sensors } });
    const now = Date.now();
    const json = [44, 43, 42, 21 + index].map((value, place) => ({
      value,
      timestamp: new Date(now - (3 - place) * 1_000).toISOString(),
    }));
    await as({ method: 'POST', path: `/devices/${id}/sensors/SM/values`, json });
  }
  const alert = await as({
    ...{ method: 'POST', path: '/notifications' },
    json: {
      condition: { devices, sensors: ['SM'], expression: 'SM < 30' },
      action: { usernames: ['esi'], channels: ['sms'], message: 'dry' },
    },
  });
  const shared = { name: 'Fields', device_ids: devices };
  const project = await as({ method: 'POST', path: '/projects', json: shared });
  const page = await stage.visit({ username: 'esi', width: 'phone', theme: 'dark' });
  for (const path of [`/alerts/${alert.text}`, `/projects/${project.text}`]) {
    await page.goto(path);
    for (const [name, value] of [
      ['North field: Soil', '21 %'],
      ['South field: Soil', '22 %'],
    ] as const) {
      const entry = page.locator('.legend-entry', { hasText: name });
      await entry.locator('.legend-value', { hasText: value }).waitFor();
    }
  }
  await page.context().close();
});

browserTest('an expression that is refused is marked where the service stumbled', async () => {
  await stage.service.as('kofi')({
    ...{ method: 'POST', path: '/devices' },
    json: { id: 'shed', sensors: [{ id: 'TC' }] },
  });
  const page = await stage.visit({ username: 'kofi' });
  await page.goto('/alerts/new?device=shed');
  await page.getByRole('button', { name: 'Write it as an expression' }).click();
  await page.getByLabel('Expression').fill('TC < < 3');
  await page.getByText('cannot be read from character 6').waitFor();
  assert.equal(await page.locator('.spot mark').textContent(), '<');
  await page.getByLabel('Expression').fill('TC < 3 for 20m');
  await page.getByRole('button', { name: 'Show it as a sentence' }).click();
  assert.equal(await page.getByLabel('For how long').inputValue(), '1200');
  await page.context().close();
});

browserTest('an administrator makes an account and locks it out, others may not', async () => {
  const page = await stage.visit({ username: 'admin' });
  await page.goto('/users');
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Username').fill('zuri');
  await dialog.getByLabel('Password').fill(passwordOf('zuri'));
  await dialog.getByRole('button', { name: 'Create the account' }).click();
  await page.getByRole('heading', { name: 'zuri' }).waitFor();
  const login = { method: 'POST', path: '/auth/token' };
  const json = { username: 'zuri', password: passwordOf('zuri') };
  assert.equal((await stage.service.call({ ...login, json })).status, 200);
  await page.getByRole('switch', { name: 'Can log in' }).click();
  await page.goto('/users');
  await page.getByText('locked out', { exact: true }).waitFor();
  assert.equal((await stage.service.call({ ...login, json })).status, 401);
  await page.context().close();
  const other = await stage.visit({ username: 'kofi' });
  await other.goto('/users');
  await other.getByText('Only administrators can see this.').waitFor();
  assert.equal(await other.getByRole('link', { name: 'Users' }).count(), 0);
  await other.context().close();
});

browserTest('an alert names a sensor in the language of its reader', async () => {
  const ama = stage.service.as('ama-names');
  const sensors = [{ id: 'TC', name: 'Air temperature', unit: 'DegreeCelsius' }];
  await ama({ method: 'POST', path: '/devices', json: { id: 'roof', sensors } });
  await ama({
    ...{ method: 'POST', path: '/notifications' },
    json: {
      condition: { devices: ['roof'], sensors: ['TC'], expression: 'TC > 30' },
      action: { usernames: ['ama-names'], channels: ['sms'], message: '{TC}' },
    },
  });
  const page = await stage.visit({ username: 'ama-names', language: 'fr', width: 'phone' });
  await page.goto('/alerts');
  await page.getByText('Quand Température de l’air de roof est au-dessus de 30').click();
  const title = { name: 'Quand Température de l’air de roof est au-dessus de 30' };
  await page.getByRole('heading', title).waitFor();
  await page.goto('/alerts/none');
  await page.getByText('Cette alerte n’existe plus.').waitFor();
  await page.context().close();
});
