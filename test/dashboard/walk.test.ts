import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import mqtt from 'mqtt';
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
  browserTest(`a new user gets from nothing to a live, shared device on a ${width}`, async () => {
    const owner = `ama-${width}`;
    const friend = `kofi-${width}`;
    await stage.service.tokenOf(friend);
    const page = await stage.visit({ width });
    await signUp(page, owner);
    const device = await createDevice(page, `Field of ${width}`, owner);
    await seeLiveValue(page, device, owner);
    await share(page, friend);
    const friendPage = await stage.visit({ width, username: friend });
    await seeWithoutChanging(friendPage, device);
    await page.getByRole('button', { name: 'Stop sharing' }).click();
    await page.getByText(`${friend} has no access any more`).waitFor();
    await friendPage.reload();
    await friendPage.getByRole('heading', { name: 'This device is private' }).waitFor();
    // Who is logged in need not log in, but may be somebody else here.
    await friendPage.getByText(`Logged in as ${friend}`).waitFor();
    assert.equal(await friendPage.getByText('If it is yours').count(), 0);
    await logOut(page, width);
    await page.context().close();
    await friendPage.context().close();
  });
}

async function signUp(page: Page, username: string): Promise<void> {
  await page.goto('/');
  await page.getByRole('main').getByRole('link', { name: 'Sign up' }).click();
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(passwordOf(username));
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: username }).waitFor();
}

async function createDevice(page: Page, name: string, owner: string): Promise<string> {
  await page.getByRole('link', { name: 'New device' }).first().click();
  await page.getByLabel('Name').fill(name);
  const device = await page.getByLabel('Id', { exact: true }).inputValue();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Air temperature' }).click();
  await page.getByRole('button', { name: 'Create the device' }).click();
  await page.getByText('Waiting for the first value').waitFor();
  await push(device, owner, 21.5);
  await page.getByText('Your device is ready').waitFor();
  return device;
}

async function push(device: string, owner: string, value: unknown): Promise<void> {
  const path = `/devices/${device}/sensors/TC/value`;
  const { status } = await stage.service.as(owner)({ method: 'POST', path, json: { value } });
  assert.equal(status, 204);
}

async function seeLiveValue(page: Page, device: string, owner: string): Promise<void> {
  await page.getByRole('link', { name: 'See the device' }).click();
  const tile = page.getByRole('link', { name: 'Air temperature' });
  await tile.getByText('21.5').waitFor();
  await page.locator('.device-chart canvas').waitFor();
  await page.getByText('live', { exact: true }).waitFor();
  await push(device, owner, 22.75);
  await tile.getByText('22.75').waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('cell', { name: '22.75' }).waitFor();
}

async function share(page: Page, friend: string): Promise<void> {
  await page.getByRole('link', { name: 'Share', exact: true }).click();
  await page.getByLabel('Username of the person').fill(friend);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page
    .getByText(`${friend} can see the device and see what it measures, but cannot send values`)
    .waitFor();
}

async function seeWithoutChanging(page: Page, device: string): Promise<void> {
  await page.goto(`/devices/${device}`);
  await page.getByRole('link', { name: 'Air temperature' }).getByText('22.75').waitFor();
  await page.getByRole('link', { name: 'CSV' }).waitFor();
  for (const name of ['Settings', 'Send', 'Add a sensor', 'Share']) {
    assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name);
  }
  await page.goto(`/devices/${device}/settings`);
  await page.getByText('You are not allowed', { exact: false }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
}

async function logOut(page: Page, width: Width): Promise<void> {
  const { url } = stage.service;
  await page.getByRole('link', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Log in' }).waitFor();
  const kept = await page.context().storageState();
  const names = kept.origins.flatMap(({ localStorage }) => localStorage.map(({ name }) => name));
  assert.ok(!names.includes('kipimo.session'), `${url} at ${width}: ${names.join()}`);
}

/** A device with a sensor and its values of the last hours, made by the API. */
async function makeDevice(id: string, owner: string, values: readonly number[]): Promise<void> {
  const as = stage.service.as(owner);
  await as({
    ...{ method: 'POST', path: '/devices' },
    json: { id, name: id, visibility: 'private', sensors: [{ id: 'TC', name: 'Warmth' }] },
  });
  const start = Date.now() - values.length * 60_000;
  const json = values.map((value, index) => ({
    value,
    timestamp: new Date(start + index * 60_000).toISOString(),
  }));
  const path = `/devices/${id}/sensors/TC/values`;
  assert.equal((await as({ method: 'POST', path, json })).status, 204);
}

browserTest('the CSV of a device is what the API answers, and comes back as it was', async () => {
  await makeDevice('csv-1', 'efua', [1, 2.5, -3]);
  const page = await stage.visit({ username: 'efua' });
  await page.goto('/devices/csv-1/data');
  await page.getByText('3 values').waitFor();
  async function download(): Promise<Buffer> {
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    return readFileSync(await (await waiting).path());
  }
  const path = '/sensors_data?device_id=csv-1&sensor_id=TC&format=csv';
  const as = stage.service.as('efua');
  const { text } = await as({ path });
  assert.equal((await download()).toString(), `\u{feff}${text}`);
  assert.match(text, /,2\.5,/);

  async function upload(buffer: Buffer, says: RegExp): Promise<void> {
    await page
      .getByLabel('CSV file')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText(says).waitFor();
  }
  await page.getByRole('checkbox', { name: 'One column for each sensor' }).check();
  await page.getByRole('checkbox', { name: 'Local time' }).check();
  const wide = await download();
  assert.match(wide.toString(), /^\u{feff}timestamp \(.+\),csv-1\/TC\r\n\d{4}-\d\d-\d\d \d\d:/u);
  await upload(wide, /3 values are stored/);
  assert.equal((await as({ path })).text, text);

  await page.getByLabel('Time zone of the times in the file').fill('Africa/Nairobi');
  const sheet = 'timestamp;value\r\n2026-03-20 15:00;21,5\r\n2026-03-20 16:00;20 \u{b0}C\r\n;\r\n';
  await upload(Buffer.from(sheet, 'latin1'), /2 values are stored/);
  const read = '/devices/csv-1/sensors/TC/values?dateTo=2026-03-21';
  assert.deepEqual(
    ((await as({ path: read })).json as readonly { timestamp: string; value: unknown }[]).map(
      ({ timestamp, value }) => [timestamp, value],
    ),
    [
      ['2026-03-20T12:00:00.000Z', 21.5],
      ['2026-03-20T13:00:00.000Z', '20 °C'],
    ],
  );
  await page.context().close();
});

browserTest('a correction changes what the chart shows, not what is stored', async () => {
  await makeDevice('calibrated-1', 'efua', [10]);
  const page = await stage.visit({ username: 'efua' });
  await page.goto('/devices/calibrated-1/sensors/TC');
  await page.locator('.hero').getByText('10').waitFor();
  await push('calibrated-1', 'efua', 20);
  await page.locator('.hero').getByText('20').waitFor();
  await page.getByText('Calibrate the sensor').click();
  const points = [
    [0, 5],
    [100, 205],
  ];
  for (const [place, [says, is]] of points.entries()) {
    await page.getByLabel(`The sensor says (${place + 1})`).fill(String(says));
    await page.getByLabel(`It really is (${place + 1})`).fill(String(is));
  }
  await page.getByRole('button', { name: 'Use this calibration' }).click();
  await page.locator('.hero').getByText('45').waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('cell', { name: '45' }).waitFor();
  await page.getByRole('cell', { name: '25' }).waitFor();
  const path = '/devices/calibrated-1/sensors/TC/values?calibrated=false';
  const { json } = await stage.service.as('efua')({ path });
  const values = (json as readonly { readonly value: number }[]).map(({ value }) => value);
  assert.deepEqual(values, [10, 20]);
  await page.context().close();
});

browserTest('a switch that is tapped reaches the MQTT client that controls the pump', async () => {
  await makeDevice('pump-1', 'efua', [1]);
  const client = await mqtt.connectAsync(stage.service.mqttUrl, {
    ...{ username: 'efua', password: passwordOf('efua') },
  });
  await client.subscribeAsync('devices/pump-1/actuators/pump/value');
  const page = await stage.visit({ username: 'efua', width: 'phone' });
  await page.goto('/devices/pump-1');
  await page.getByRole('link', { name: 'Add a control' }).click();
  await page.getByLabel('Name').fill('Pump');
  await page.getByLabel('Id of the control').fill('pump');
  await page.getByRole('button', { name: 'Add a control' }).click();
  const arrived = new Promise<readonly [string, string]>((resolve) => {
    client.once('message', (topic, payload) => resolve([topic, payload.toString()]));
  });
  await page.getByRole('switch', { name: 'Pump' }).click();
  assert.deepEqual(await arrived, ['devices/pump-1/actuators/pump/value', 'true']);
  await page.getByText('Pump is set').waitFor();
  await client.endAsync();
  await page.context().close();
});

browserTest(
  'a gateway and a project are shared like a device, and a project is taken home',
  async () => {
    await stage.service.tokenOf('yaw');
    await makeDevice('shared-1', 'efua', [1, 2]);
    const as = stage.service.as('efua');
    await as({ method: 'POST', path: '/gateways', json: { id: 'gw-1', visibility: 'private' } });
    const json = { name: 'Harvest', device_ids: ['shared-1'], gateway_ids: ['gw-1'] };
    const project = (await as({ method: 'POST', path: '/projects', json })).text;
    const page = await stage.visit({ username: 'efua' });
    for (const [path, thing] of [
      ['/gateways/gw-1', 'gateway'],
      [`/projects/${project}`, 'project'],
    ]) {
      await page.goto(path ?? '');
      await page.getByRole('main').getByRole('link', { name: 'Share', exact: true }).click();
      await page.getByLabel('Username of the person').fill('yaw');
      await page.getByRole('button', { name: 'Share', exact: true }).click();
      await page.getByText(`yaw can see the ${thing}, but cannot change it or delete it`).waitFor();
      await page.getByRole('checkbox', { name: 'change it' }).check();
      await page
        .getByText(`yaw can see the ${thing} and change it, but cannot delete it`)
        .waitFor();
    }
    const { json: grants } = await stage.service.as('yaw')({ path: '/users/me/grants' });
    const received = (grants as { readonly received: readonly { kind: string }[] }).received;
    assert.deepEqual(received.map(({ kind }) => kind).sort(), ['gateway', 'project']);
    await page.goto(`/projects/${project}`);
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all data' }).click();
    const bytes = readFileSync(await (await waiting).path());
    assert.equal(bytes.subarray(0, 2).toString(), 'PK');
    await page.context().close();
  },
);
