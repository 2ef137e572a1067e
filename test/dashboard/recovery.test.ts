import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const drawn = '.chart-place[aria-busy=false] canvas';

async function send(method: string, path: string, json?: unknown): Promise<void> {
  const { status, text } = await stage.service.as('ama')({ method, path, json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}

async function makeDevice(id: string): Promise<void> {
  const sensors = [{ id: 'TC', name: 'Air', unit: 'DegreeCelsius' }];
  await send('POST', '/devices', { id, name: id, visibility: 'private', sensors });
  await send('POST', `/devices/${id}/sensors/TC/value`, { value: 21 });
}

browserTest('a chart and its screen come back by themselves when the service does', async () => {
  await makeDevice('away-1');
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  let isAway = true;
  await page.route('**/api/v2/{devices/away-1,sensors_data?*}', async (route) => {
    if (isAway) await route.abort('connectionrefused');
    else await route.continue();
  });
  await page.goto('/devices/away-1');
  await page.getByRole('alert').first().waitFor();
  isAway = false;
  await page.locator(drawn).first().waitFor();
  await page.getByRole('link', { name: 'Air' }).getByText('21').waitFor();
  await page.locator('main:not(:has([role=alert]))').waitFor();
  await page.context().close();
});

browserTest('what came while the network was away is on the chart afterwards', async () => {
  await makeDevice('away-2');
  const page = await stage.visit({ username: 'ama' });
  await page.goto('/devices/away-2');
  await page.getByText('live', { exact: true }).waitFor();
  await page.locator(drawn).first().waitFor();
  await page.context().setOffline(true);
  await page.getByText('offline', { exact: false }).first().waitFor();
  await send('POST', '/devices/away-2/sensors/TC/value', { value: 33.25 });
  await send('POST', '/devices/away-2/sensors/TC/value', { value: 22.5 });
  await page.context().setOffline(false);
  await page.getByRole('link', { name: 'Air' }).getByText('22.5').waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('cell', { name: '33.25' }).waitFor();
  await page.context().close();
});

browserTest('a device that is deleted or not shared any more says so', async () => {
  await makeDevice('gone-1');
  await makeDevice('gone-2');
  await stage.service.tokenOf('kofi');
  const rights = ['devices:view', 'devices-data:view'];
  await send('PUT', '/devices/gone-2/grants/kofi', rights);
  const owner = await stage.visit({ username: 'ama' });
  const friend = await stage.visit({ username: 'kofi' });
  for (const [page, id] of [
    [owner, 'gone-1'],
    [friend, 'gone-2'],
  ] as const) {
    await page.clock.install();
    await page.goto(`/devices/${id}`);
    await page.locator(drawn).first().waitFor();
  }
  await send('DELETE', '/devices/gone-1');
  await send('DELETE', '/devices/gone-2/grants/kofi');
  await owner.clock.fastForward(5_000);
  await owner.getByRole('heading', { name: 'This device was deleted' }).waitFor();
  await friend.clock.fastForward(5_000);
  await friend.getByRole('heading', { name: 'no longer shared with you' }).waitFor();
  await owner.context().close();
  await friend.context().close();
});

browserTest(
  'a sensor, an alert, a project, a gateway or a group that is deleted while it is shown says so',
  async () => {
    await makeDevice('gone-3');
    const as = stage.service.as('ama');
    const project = await as({ method: 'POST', path: '/projects', json: { name: 'Gone' } });
    const group = await as({ method: 'POST', path: '/groups', json: { name: 'Gone' } });
    await send('POST', '/gateways', { id: 'gone-gw', name: 'Gone' });
    const alert = await as({
      ...{ method: 'POST', path: '/notifications' },
      json: {
        condition: { devices: ['gone-3'], sensors: ['TC'], expression: 'TC > 30' },
        action: { usernames: ['ama'], channels: ['sms'], message: 'hot' },
      },
    });
    for (const [shown, path] of [
      ['/devices/gone-3/sensors/TC', '/devices/gone-3/sensors/TC'],
      [`/alerts/${alert.text}`, `/notifications/${alert.text}`],
      [`/projects/${project.text}`, `/projects/${project.text}`],
      ['/gateways/gone-gw', '/gateways/gone-gw'],
      [`/groups/${group.text}`, `/groups/${group.text}`],
    ] as const) {
      const page = await stage.visit({ username: 'ama' });
      await page.clock.install();
      await page.goto(shown);
      await page.locator('main h1').first().waitFor();
      await send('DELETE', path);
      await page.clock.fastForward(5_000);
      await page
        .getByText(/is not there any more|There is no gateway/)
        .first()
        .waitFor();
      await page.context().close();
    }
  },
);
