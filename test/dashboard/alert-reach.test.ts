import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { assertDone } from '../v2/refusal.ts';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function makeDevice(owner: string, id: string): Promise<void> {
  const json = { id, name: id, sensors: [{ id: 'T', name: 'Heat' }] };
  assertDone(await stage.service.as(owner)({ method: 'POST', path: '/devices', json }));
}

async function notify(
  owner: string,
  device: string,
  expression: string,
  { to = [owner], by = 'sms' }: { readonly to?: readonly string[]; readonly by?: string } = {},
) {
  const condition = { devices: [device], expression };
  const action = { usernames: to, channels: [by], message: '{T}' };
  const json = { condition, action };
  const reply = await stage.service.as(owner)({ method: 'POST', path: '/notifications', json });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

browserTest('an alert says whom it cannot reach, and leads to where that is mended', async () => {
  await makeDevice('nia', 'reach-1');
  await makeDevice('nia', 'reach-2');
  await stage.service.as('nia')({ method: 'PUT', path: '/users/me', json: { firstName: 'Nia' } });
  const id = await notify('nia', 'reach-1', 'T > 8', { to: ['nia', 'kofi-ghost'] });
  const page = await stage.visit({ username: 'nia' });
  const missing = page.getByText('no phone number in the profile of the recipient');
  const unknown = page.getByText('nobody gets it: kofi-ghost');
  await page.goto('/alerts');
  await missing.waitFor();
  await unknown.waitFor();
  await page.goto(`/alerts/${id}/edit`);
  await missing.waitFor();
  await page.goto(`/alerts/${id}`);
  await unknown.waitFor();
  await page.getByRole('link', { name: 'Mend it in your profile' }).click();
  const phone = page.getByLabel(/^Phone/);
  await page.getByText('With country code, such as +233 20 123 4567.').waitFor();
  await phone.fill('77 123 45 67');
  await page.locator('form', { has: phone }).getByRole('button', { name: 'Save' }).click();
  await page.getByText(/phone (must be a )?number with its country code/).waitFor();
  await phone.fill('+233 20 123-4567');
  await page.locator('form', { has: phone }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('+233201234567').first().waitFor();
  await page.goto(`/alerts/${id}`);
  await unknown.waitFor();
  assert.equal(await missing.count(), 0);
  assertDone(await stage.service.as('nia')({ method: 'DELETE', path: '/devices/reach-1' }));
  await page.reload();
  await page.getByText('save the alert once more: reach-1').waitFor();
  await page.context().close();
});

browserTest('what the service has not set up, no profile mends', async () => {
  await makeDevice('sef', 'reach-3');
  const id = await notify('sef', 'reach-3', 'T > 8', { by: 'webhook' });
  const page = await stage.visit({ username: 'sef' });
  await page.goto(`/alerts/${id}`);
  await page.getByText('are not set up on this service').waitFor();
  assert.equal(await page.getByText('Mend it in your profile').count(), 0);
  await page.context().close();
});

browserTest('an alert that is gone leads home, as to try again is no use', async () => {
  const id = await notify('sef', 'reach-3', 'T > 9');
  const path = `/notifications/${id}`;
  assertDone(await stage.service.as('sef')({ method: 'DELETE', path }));
  const page = await stage.visit({ username: 'sef' });
  await page.goto(`/alerts/${id}`);
  const box = page.locator('.error-box');
  await box.getByRole('link', { name: 'Go home' }).waitFor();
  assert.equal(await box.getByRole('button').count(), 0);
  await page.context().close();
});

browserTest('a comma in an expression is said to part values', async () => {
  await makeDevice('nia', 'comma');
  const page = await stage.visit({ username: 'nia' });
  await page.goto('/alerts/new?device=comma');
  await page.getByRole('button', { name: 'Write it as an expression' }).click();
  await page.getByLabel('Expression').fill('T == 8,5');
  await page.getByText('The comma parts values: 8 or 5').waitFor();
  await page.getByLabel('Expression').fill('T == 8.5');
  await page.getByText('The comma parts values').waitFor({ state: 'detached' });
  await page.context().close();
});

browserTest('a value looks like the limit of its alert only where it is there', async () => {
  for (const [device, limit, value] of [
    ['near', 100, 99.996],
    ['exact', 99.996, 100],
  ] as const) {
    await makeDevice('lina', device);
    await notify('lina', device, `T >= ${limit}`);
    const path = `/devices/${device}/sensors/T/value`;
    const json = { value };
    assertDone(await stage.service.as('lina')({ method: 'POST', path, json }));
  }
  const page = await stage.visit({ username: 'lina' });
  for (const [path, place] of [
    ['/', '.card:has-text("near") .value-number'],
    ['/devices/near', '.tile .value-number'],
    ['/devices/near', '.legend-value'],
    ['/devices/near/sensors/T', '.hero .value-number'],
  ] as const) {
    await page.goto(path);
    await page.locator(place, { hasText: '99.996' }).first().waitFor();
  }
  await page.goto('/alerts');
  await page
    .getByText(/Heat.* is at least 99\.996/)
    .first()
    .waitFor();
  await page.context().close();
});

browserTest(
  'a person whose name is typed and not added is one of whom the alert reaches',
  async () => {
    await makeDevice('efe', 'reach-9');
    await stage.service.tokenOf('Kojo.B');
    const page = await stage.visit({ username: 'efe', width: 'phone' });
    await page.goto('/alerts/new?device=reach-9&sensor=T');
    await page.getByLabel(/^Value/).fill('30');
    const name = page.getByLabel('Username');
    await name.fill('nobody.here');
    await name.blur();
    await page.getByText('nobody.here', { exact: false }).first().waitFor();
    await name.fill('kojo.b');
    await page.getByRole('button', { name: 'Switch the alert on' }).tap();
    await page.getByText('Nothing has been sent yet.').waitFor();
    const { json } = await stage.service.as('efe')({ path: '/notifications' });
    type Made = { readonly owner: string; readonly action: { readonly usernames: string[] } };
    const made = (json as readonly Made[]).find(({ owner }) => owner === 'efe');
    const names = made?.action.usernames.map((one) => one.toLowerCase());
    assert.deepEqual(names, ['efe', 'kojo.b']);
    await page.context().close();
  },
);
