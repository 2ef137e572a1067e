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

browserTest('who has a gateway is led from its id to the first value it sends', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/new-device');
  await page.getByRole('link', { name: 'My kit is a gateway' }).tap();
  await page.getByLabel('Id of the gateway').fill('roof 1');
  await page.getByRole('button', { name: 'Next' }).tap();
  await page.getByText('An id has no spaces').waitFor();
  await page.getByLabel('Id of the gateway').fill('roof-1');
  await page.getByRole('button', { name: 'Next' }).tap();
  await page.getByText('Waiting for the gateway').waitFor();
  await page.getByRole('button', { name: 'Make a key for this gateway' }).tap();
  await page.getByText('It is shown only this once').waitFor();
  const lines = await page.locator('.copy-block .code').innerText();
  assert.match(lines, /API: http.*\/api\/v2\nMQTT: .*:\d+\nMQTT client id: roof-1\nUsername: ama/);
  const token = /Password: (\S+)/.exec(lines)?.[1] ?? '';
  const send = async (path: string, json?: unknown): Promise<void> => {
    const { status, text } = await stage.service.call({ method: 'POST', path, json, token });
    assert.equal(status, 204, text);
  };
  // What a gateway does when it is switched on.
  await send('/gateways/roof-1/heartbeat');
  await page.getByText('The gateway was heard.').waitFor();
  const sensors = [{ id: 'SM', name: 'Soil', unit: 'Percent' }];
  await send('/devices', { id: 'probe', name: 'Probe', gateway_id: 'roof-1', sensors });
  await send('/devices/probe/sensors/SM/value', { value: 41.5 });
  await page.getByText('Your gateway is ready. Probe: 41.5').waitFor();
  await page.getByRole('link', { name: 'See the gateway' }).tap();
  await page.getByRole('link', { name: 'Probe' }).waitFor();
  await page.context().close();
});

browserTest('a gateway that has made itself is gone on with, that of another is not', async () => {
  for (const [username, id] of [
    ['efua', 'own-gw'],
    ['kojo', 'other-gw'],
  ] as const) {
    const json = { id, visibility: 'private' };
    const made = await stage.service.as(username)({ method: 'POST', path: '/gateways', json });
    assert.ok(made.status < 300, made.text);
  }
  const page = await stage.visit({ username: 'efua', width: 'desktop' });
  await page.goto('/gateways');
  await page.getByRole('link', { name: 'Add a gateway' }).click();
  await page.getByLabel('Id of the gateway').fill('other-gw');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Id of the gateway').fill('own-gw');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('heading', { name: 'Set up gateway own-gw' }).waitFor();
  await page.context().close();
});
