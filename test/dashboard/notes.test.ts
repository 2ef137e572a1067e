import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  const sensors = [{ id: 'L', name: 'Level', unit: 'Metre' }];
  const json = { id: 'well', name: 'Old well', visibility: 'private', sensors };
  const made = { method: 'POST', path: '/devices', json };
  assert.equal((await stage.service.as('ama')(made)).status, 204);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('a note, tags, a sign and a photo of a device are shown and found', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone', theme: 'dark' });
  await page.goto('/devices/well/settings');
  await page.getByText('Note, tags, photo').click();
  const fold = page.locator('details', { hasText: 'Note, tags, photo' });
  await fold.getByLabel('Icon').fill('💧');
  await fold.getByLabel('Tags').fill('north, to repair');
  await fold.getByLabel('Note', { exact: false }).last().fill('The key hangs behind the door.');
  const photo = fold.getByLabel('Photo').first();
  await photo.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no') });
  await page.getByText('This picture could not be read.').waitFor();
  await photo.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: await picture() });
  await fold.getByRole('img', { name: 'Photo of Old well' }).waitFor();
  await fold.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.goto('/devices/well');
  await page.getByText('The key hangs behind the door.').waitFor();
  const shown = page.getByRole('img', { name: 'Photo of Old well' });
  const source = (await shown.getAttribute('src')) ?? '';
  assert.match(source, /^data:image\/(jpeg|webp);base64,/);
  // The picture of 2,000 px is kept small: it is a part of the device.
  assert.ok(source.length < 60_000, `${source.length} characters`);
  await page.goto('/');
  await page.getByRole('searchbox').fill('repair north');
  await page.locator('a.card', { hasText: 'Old well' }).getByText('💧').waitFor();
  await page.context().close();
});

/** One of 2,000 by 1,500 px, drawn by the browser. */
async function picture(): Promise<Buffer> {
  const page = await stage.visit({ width: 'desktop' });
  await page.goto('/licences.txt');
  await page.setViewportSize({ width: 2_000, height: 1_500 });
  const taken = await page.screenshot({ type: 'png' });
  await page.context().close();
  return taken;
}

browserTest('the gateway of a device is picked by its name', async () => {
  const as = stage.service.as('ama');
  const gateway = { id: 'gw-0042', name: 'Roof of the school', visibility: 'private' };
  assert.equal((await as({ method: 'POST', path: '/gateways', json: gateway })).status, 200);
  const page = await stage.visit({ username: 'ama', width: 'phone', theme: 'dark' });
  await page.goto('/devices/well/settings');
  const field = page.getByLabel('Gateway');
  await page.locator('datalist option[label="Roof of the school"]').waitFor({ state: 'attached' });
  await field.fill('gw-0042');
  await page.getByText('It is called Roof of the school.').waitFor();
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('by gateway Roof of the school').waitFor();
  // And by its name on home, for all that it sends for.
  await page.goto('/');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByLabel('Gateway').selectOption({ label: 'Roof of the school' });
  await page.waitForURL(/gateway=gw-0042/);
  await page.locator('a.card[href="/devices/well"]').waitFor();
  assert.equal(await page.locator('a.card').count(), 1);
  const put = { method: 'PATCH', path: '/devices/well', json: { gateway_id: null } };
  assert.equal((await as(put)).status, 204);
  await page.context().close();
});

browserTest('who can see a device says what they can also do', async () => {
  const page = await stage.visit({ username: 'ama' });
  await page.goto('/devices/well/settings');
  await page.getByText('Nobody else can find it, not even its name.').waitFor();
  await page.getByLabel('Everybody, even without an account').check();
  await page.getByText('They can also send values to its sensors').waitFor();
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Everybody can see this device').waitFor();
  const { json } = await stage.service.as('ama')({ path: '/devices/well' });
  assert.equal((json as { readonly visibility?: string }).visibility, 'public');
  await page.context().close();
});
