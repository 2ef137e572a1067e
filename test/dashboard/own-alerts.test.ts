import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
const strangersAlerts = 1_100;

before(async () => {
  stage = await openStage();
  // A device of the stranger's own, that everybody sees with all its alerts.
  const sensors = Array.from({ length: strangersAlerts / 100 }, (_, index) => `S${index}`);
  await make('eve', '/devices', { id: 'square', sensors: sensors.map((id) => ({ id })) });
  for (const sensor of sensors) {
    const some = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(
      some.map((index) => alert('eve', 'square', `${sensor} > 1`, `Noise ${sensor} ${index}`)),
    );
  }
  await aField('esi', 'field');
  await alert('esi', 'field', 'SM < 30', 'Water the field');
  await alert('esi', 'field', 'SM > 80', 'The field is under water');
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function make(by: string, path: string, json: unknown): Promise<void> {
  const { status, text } = await stage.service.as(by)({ method: 'POST', path, json });
  assert.ok(status < 300, text);
}

async function aField(by: string, id: string): Promise<void> {
  const sensors = [{ id: 'SM', name: 'Soil' }];
  await make(by, '/devices', { id, name: `The ${id}`, visibility: 'private', sensors });
  await make(by, `/devices/${id}/sensors/SM/value`, { value: 20 });
}

const alert = (by: string, device: string, expression: string, description: string) => {
  const sensors = [expression.split(' ')[0]];
  const action = { usernames: [by], channels: ['sms'], message: 'look' };
  const condition = { devices: [device], sensors, expression };
  return make(by, '/notifications', { description, condition, action });
};

browserTest('the own alerts are there at once, whatever strangers watch in public', async () => {
  const page = await stage.visit({ username: 'esi', width: 'phone' });
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith('/notifications')) asked.push(search);
  });
  await page.goto('/');
  await page.getByText('1 device needs attention').waitFor();
  await page.getByText('Water the field').first().waitFor();
  await page.goto('/alerts');
  const cards = page.locator('.alert-card strong');
  await cards.first().waitFor();
  assert.deepEqual(await cards.allInnerTexts(), ['The field is under water', 'Water the field']);
  assert.ok(
    asked.length > 0 && asked.every((search) => search.includes('owner=esi')),
    asked.join(),
  );
  await page.getByRole('button', { name: 'Everything I can see' }).click();
  await page.getByText('Noise S10').first().waitFor();
  assert.equal(await cards.first().innerText(), 'The field is under water');
  const shown = await cards.count();
  assert.ok(shown < 200, `${shown} at once`);
  await page.getByRole('button', { name: 'Show more' }).click();
  await cards.nth(shown).waitFor();
  // In the address: who comes back sees the same.
  await page.reload();
  await page.getByText('Noise S10').first().waitFor();
  await page.getByRole('button', { name: 'Mine' }).click();
  await page.getByText('Noise S10').first().waitFor({ state: 'detached' });
  assert.equal(await cards.count(), 2);
  await page.context().close();
});

browserTest('who shares a device shows what its alerts are about', async () => {
  await aField('abena', 'orchard');
  await alert('abena', 'orchard', 'SM < 30', 'Water the orchard');
  await stage.service.tokenOf('yaw');
  const path = '/devices/orchard/grants/yaw';
  const json = ['devices:view', 'devices-data:view'];
  assert.equal((await stage.service.as('abena')({ method: 'PUT', path, json })).status, 204);
  const page = await stage.visit({ username: 'yaw', width: 'phone' });
  for (const home of ['/', '/?whose=shared']) {
    await page.goto(home);
    await page.getByText('Water the orchard').first().waitFor();
  }
  await page.context().close();
});

browserTest('all are called well only where the alerts of every owner are known', async () => {
  const owners = Array.from({ length: 10 }, (_, index) => `owner-${index}`);
  for (const owner of owners) {
    for (const number of Array.from({ length: 5 }, (_, index) => index)) {
      await make(owner, '/devices', { id: `${owner}-${number}`, sensors: [{ id: 'SM' }] });
      await make(owner, `/devices/${owner}-${number}/sensors/SM/value`, { value: 20 });
    }
    await alert(owner, `${owner}-0`, 'SM < 30', `Water for ${owner}`);
  }
  const page = await stage.visit({ username: 'ekow', width: 'phone' });
  const answered = new Set<string | null>();
  page.on('requestfinished', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/notifications')) answered.add(searchParams.get('owner'));
  });
  await page.goto('/?whose=all');
  const summary = page.locator('.home-summary');
  await page.getByText(/In total/).waitFor();
  await page
    .getByText(/Water for owner-/)
    .first()
    .waitFor();
  // As many owners as are asked for at once; before their alerts came, nothing could be said.
  while (answered.size < 8) await page.waitForTimeout(50);
  await page.waitForTimeout(200);
  assert.doesNotMatch(await summary.innerText(), /attention|well/);
  await page.context().close();
});

browserTest('alerts of another owner that cannot be had hide no others', async () => {
  await stage.service.tokenOf('kojo');
  const rights = ['devices:view', 'devices-data:view'];
  for (const owner of ['adwoa', 'akua']) {
    await aField(owner, `${owner}-field`);
    await alert(owner, `${owner}-field`, 'SM < 30', `Water for ${owner}`);
    const path = `/devices/${owner}-field/grants/kojo`;
    const put = await stage.service.as(owner)({ method: 'PUT', path, json: rights });
    assert.equal(put.status, 204);
  }
  const page = await stage.visit({ username: 'kojo', width: 'phone' });
  const path = '**/notifications?owner=adwoa*';
  await page.route(path, (route) => route.fulfill({ status: 500 }));
  await page.goto('/?whose=shared');
  await page.getByText('Water for akua').first().waitFor();
  // A service that is busy is asked again, with nothing done on the page.
  await page.unroute(path);
  const json = { error: 'unavailable', description: 'starting' };
  await page.route(path, (route) => route.fulfill({ status: 503, json }), { times: 1 });
  await page.reload();
  await page.getByText('Water for adwoa').first().waitFor({ timeout: 20_000 });
  await page.context().close();
});
