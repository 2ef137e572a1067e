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

browserTest('several devices are shared with somebody at once', async () => {
  const as = stage.service.as('efua');
  for (const id of ['well-1', 'well-2', 'shed']) {
    const json = { id, visibility: 'private', sensors: [{ id: 'TC' }] };
    assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  }
  await stage.service.tokenOf('yaw');
  const page = await stage.visit({ username: 'efua', width: 'phone' });
  await page.goto('/sharing');
  await page.getByText('Share several devices at once').click();
  // Before the first list there is no shed either.
  await page.getByLabel('shed').waitFor();
  await page.getByLabel('Search my devices').fill('WELL');
  await page.getByLabel('shed').waitFor({ state: 'detached' });
  await page.getByLabel('All', { exact: true }).check();
  await page.getByLabel('send values').check();
  await page.getByLabel('Username of the person').fill('nobody-here');
  await page.getByRole('button', { name: 'Share 2 devices' }).click();
  await page.getByText('Nobody has the username nobody-here.').waitFor();
  await page.getByLabel('Username of the person').fill('YAW');
  await page.getByRole('button', { name: 'Share 2 devices' }).click();
  await page.getByText('2 devices are shared with yaw').waitFor();
  const { json } = await as({ path: '/users/me/grants' });
  const { given } = json as { readonly given: readonly Record<string, unknown>[] };
  const scopes = ['devices:view', 'devices-data:create', 'devices-data:view'];
  assert.deepEqual(
    given.map(({ resource, username, scopes: rights }) => [resource, username, rights]).toSorted(),
    ['well-1', 'well-2'].map((id) => [id, 'yaw', scopes]),
  );
  await page.getByRole('link', { name: 'well-2' }).waitFor();
  await page.context().close();
});

browserTest('a group gets devices out of more than a list shows', async () => {
  const as = stage.service.as('ama');
  const json = Array.from({ length: 205 }, (_, index) => ({ id: `bed-${1_000 + index}` }));
  for (const device of json) {
    assert.equal((await as({ method: 'POST', path: '/devices', json: device })).status, 204);
  }
  await stage.service.tokenOf('kojo');
  const group = { name: 'Class 4B', usernames: ['kojo'] };
  assert.equal((await as({ method: 'POST', path: '/groups', json: group })).status, 200);
  const page = await stage.visit({ username: 'ama', width: 'phone' });
  await page.goto('/sharing');
  await page.getByText('Share several devices at once').click();
  await page.getByText('Showing 200 of 205 devices').waitFor();
  await page.getByLabel('Search my devices').fill('BED-120');
  await page.getByText('Showing 200 of 205 devices').waitFor({ state: 'detached' });
  await page.getByLabel('All', { exact: true }).check();
  await page.getByRole('button', { name: 'Share 5 devices' }).click();
  await page.getByText('Choose a person or a group.').waitFor();
  await page.getByRole('button', { name: 'Class 4B' }).click();
  await page.getByRole('button', { name: 'Share 5 devices' }).click();
  await page.getByText('5 devices are shared with group Class 4B').waitFor();
  const { json: grants } = await stage.service.as('kojo')({ path: '/users/me/grants' });
  const { received } = grants as { readonly received: readonly { readonly resource: string }[] };
  assert.deepEqual(received.map(({ resource }) => resource).toSorted(), [
    'bed-1200',
    'bed-1201',
    'bed-1202',
    'bed-1203',
    'bed-1204',
  ]);
  await page.context().close();
});

browserTest('who was handed a device over accepts it on its screen', async () => {
  const json = { id: 'pump-7', sensors: [{ id: 'TC' }] };
  await stage.service.as('efua')({ method: 'POST', path: '/devices', json });
  await stage.service.tokenOf('yaw');
  const to = { method: 'PUT', path: '/devices/pump-7/owner', body: 'yaw' };
  assert.equal((await stage.service.as('efua')(to)).status, 204);
  const page = await stage.visit({ username: 'yaw', width: 'phone' });
  await page.goto('/devices/pump-7');
  await page.getByText('This device was handed over to you.').waitFor();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('The device is accepted.').waitFor();
  await page.getByRole('button', { name: 'Accept' }).waitFor({ state: 'detached' });
  const { json: device } = await stage.service.as('yaw')({ path: '/devices/pump-7' });
  assert.equal((device as { readonly pending?: boolean }).pending, undefined);
  await page.context().close();
});

browserTest('who sees a device by a project is counted on its screen', async () => {
  const as = stage.service.as('efua');
  for (const id of ['bed-1', 'bed-2']) {
    const json = { id, visibility: 'private', sensors: [{ id: 'TC' }] };
    assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  }
  const project = { name: 'Garden', device_ids: ['bed-1'] };
  const { text } = await as({ method: 'POST', path: '/projects', json: project });
  const page = await stage.visit({ username: 'efua', width: 'phone' });
  await page.goto('/devices/bed-1');
  await page.getByText('Nobody else can see this device').waitFor();
  for (const name of ['yaw', 'adwoa']) {
    await stage.service.tokenOf(name);
    const path = `/projects/${text}/grants/${name}`;
    const put = { method: 'PUT', path, json: ['projects:view'] };
    assert.equal((await as(put)).status, 204);
  }
  await page.goto('/devices/bed-1');
  await page.getByText('Only you and 2 people you chose can see this device').waitFor();
  await page.goto('/devices/bed-1/share');
  await page.getByText('It is not shared with anybody directly.').waitFor();
  await page.getByRole('link', { name: 'Garden with 2 people or groups' }).waitFor();
  await page.goto('/devices/bed-2');
  await page.getByText('Nobody else can see this device').waitFor();
  await page.context().close();
});

browserTest('home shows a member what others share, with the own devices', async () => {
  const as = stage.service.as('adjoa');
  const json = { id: 'tank', name: 'Tank', visibility: 'private', sensors: [{ id: 'L' }] };
  assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
  await stage.service.tokenOf('kwesi');
  const page = await stage.visit({ username: 'kwesi', width: 'phone' });
  await page.goto('/');
  await page.getByRole('heading', { name: 'Your first device in three steps' }).waitFor();
  const path = '/devices/tank/grants/kwesi';
  const grants = ['devices:view', 'devices-data:view'];
  assert.equal((await as({ method: 'PUT', path, json: grants })).status, 204);
  await page.reload();
  const shared = page.getByRole('region', { name: 'Shared with me' });
  await shared.getByRole('link', { name: 'Tank' }).waitFor();
  assert.equal(await page.getByText('three steps').count(), 0);
  const own = { method: 'POST', path: '/devices', json: { id: 'garden' } };
  assert.equal((await stage.service.as('kwesi')(own)).status, 204);
  await page.reload();
  await page.getByRole('link', { name: 'garden' }).waitFor();
  await shared.getByRole('link', { name: 'Tank' }).waitFor();
  assert.equal(await shared.getByRole('link', { name: 'garden' }).count(), 0);
  await page.context().close();
});
