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

browserTest('several devices are made at once, with ids that are free', async () => {
  const json = { id: 'Pond-2', visibility: 'private' };
  const taken = { method: 'POST', path: '/devices', json };
  assert.equal((await stage.service.as('somebody')(taken)).status, 204);
  const page = await stage.visit({ username: 'efua', width: 'phone' });
  await page.goto('/new-device');
  await page.getByLabel('Name').fill('Pond');
  await page.getByText('Several of the same kind').click();
  await page.getByLabel('How many').fill('3');
  await page.getByText('They are numbered: Pond-1 to Pond-3.').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Pond is taken. Pond-2 is free.').waitFor();
  await page.getByRole('button', { name: 'Use Pond-2' }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('heading', { name: 'What does it measure?' }).waitFor();
  await page.goBack();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Pond');
  assert.equal(await page.getByLabel('Id', { exact: true }).inputValue(), 'Pond-2');
  await page.goForward();
  await page.reload();
  await page.getByRole('button', { name: 'Water level' }).click();
  await page.getByRole('button', { name: 'Create the device' }).click();
  await page.getByText('3 devices are created').waitFor();
  const q = encodeURIComponent("owner=='efua'");
  const made = await stage.service.as('efua')({ path: `/devices?q=${q}` });
  const named = (
    made.json as readonly { id: string; name: string; sensors: { id: string }[] }[]
  ).map(({ id, name, sensors }) => [id, name, sensors[0]?.id]);
  assert.deepEqual(
    named,
    [1, 2, 3].map((number) => [`Pond-2-${number}`, `Pond ${number}`, 'WL']),
  );
  await page.context().close();
});

browserTest('what was made before the network broke off is not made again', async () => {
  const page = await stage.visit({ username: 'kojo', width: 'phone' });
  let posts = 0;
  await page.route('**/api/v2/devices', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    posts += 1;
    // The answer is lost: the device is made.
    if (posts === 2) await route.fetch();
    return posts === 2 ? route.abort('connectionreset') : route.fallback();
  });
  await page.goto('/new-device');
  await page.getByLabel('Name').fill('Hive');
  await page.getByText('Several of the same kind').click();
  await page.getByLabel('How many').fill('3');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Battery' }).click();
  await page.getByRole('button', { name: 'Create the device' }).click();
  await page.getByText('1 of 3 are created, then it was interrupted.').waitFor();
  await page.getByRole('button', { name: 'Create the device' }).click();
  await page.getByText('3 devices are created').waitFor();
  assert.equal(posts, 4);
  const options = page.getByLabel('Lines for').locator('option');
  await options.filter({ hasText: 'Hive 3' }).waitFor({ state: 'attached' });
  assert.deepEqual(await options.allInnerTexts(), ['Hive 1', 'Hive 2', 'Hive 3']);
  const q = encodeURIComponent("owner=='kojo'");
  const { json } = await stage.service.as('kojo')({ path: `/devices?q=${q}` });
  const ids = (json as readonly { readonly id: string }[]).map(({ id }) => id);
  assert.deepEqual(ids.toSorted(), ['Hive-1', 'Hive-2', 'Hive-3']);
  await page.context().close();
});

browserTest('lines to copy work as they are, and a device without a sensor gets one', async () => {
  const page = await stage.visit({ username: 'adjoa' });
  await page.goto('/new-device');
  await page.getByLabel('Name').fill('Empty box');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Create the device' }).click();
  await page.getByText('It measures nothing yet.').waitFor();
  await page.getByRole('button', { name: 'Rain' }).click();
  await page.getByRole('button', { name: 'Add these' }).click();
  await page.getByRole('button', { name: 'Make a key for this device' }).waitFor();
  assert.equal(await page.locator('.copy-block .code').count(), 0);
  await page.getByRole('button', { name: 'Make a key for this device' }).click();
  const lines = await page.locator('.copy-block .code').innerText();
  const key = /Bearer (\S+)'/.exec(lines)?.[1] ?? '';
  const path = '/devices/Empty-box/sensors/RAIN/value';
  const push = { method: 'POST', path, json: { value: 3 }, token: key };
  assert.equal((await stage.service.call(push)).status, 204);
  await page.getByText('Your device is ready').waitFor();
  await page.getByRole('button', { name: 'Arduino' }).click();
  for (const [board, include] of [
    ['ESP8266', 'ESP8266WiFi.h'],
    ['Uno + Ethernet', 'Ethernet.h'],
  ] as const) {
    await page.getByLabel('Board').selectOption(board);
    if (board === 'ESP8266') {
      // What is to be replaced is asked for, and stands where it belongs.
      assert.equal(await page.locator('.copy-block .code').count(), 0);
      await page.getByLabel('Name of your Wi-Fi').fill('Farm "2"');
      await page.getByLabel('Its password').fill('maize');
    }
    const sketch = await page.locator('.copy-block .code').innerText();
    assert.ok(sketch.includes(include) && sketch.includes(key), board);
    assert.equal(sketch.includes('network = "Farm \\"2\\"";'), board === 'ESP8266');
    assert.equal(sketch.includes('password = "maize";'), board === 'ESP8266');
  }
  await page.goBack();
  await page.getByRole('heading', { name: 'What is it?' }).waitFor();
  assert.equal(await page.getByLabel('Name').inputValue(), '');
  await page.context().close();
});

browserTest('the page that waits says what came in wrong, while it waits', async () => {
  const json = { id: 'well', name: 'Well', visibility: 'private', sensors: [{ id: 'WL' }] };
  await stage.service.as('esi')({ method: 'POST', path: '/devices', json });
  const page = await stage.visit({ username: 'esi', width: 'phone', theme: 'dark' });
  await page.goto('/new-device?step=3&device=well');
  await page.getByText('Waiting for the first value…').waitFor();
  assert.equal(await page.getByText('This came, and was refused').count(), 0);
  const push = (path: string, username: string) =>
    stage.service.as(username)({ method: 'POST', path, json: { value: 1 } });
  await push('/devices/well/sensors/wl/value', 'esi');
  await push('/devices/Well/sensors/WL/value', 'esi');
  await push('/devices/well/sensors/WL/value', 'guest');
  await page.getByText('sensor “wl”, which is not there. This device has: WL.').waitFor();
  await page.getByText('device “Well”, which is not there. This one is called “well”.').waitFor();
  await page.getByText('It came without a key.').waitFor();
  assert.equal((await push('/devices/well/sensors/WL/value', 'esi')).status, 204);
  await page.getByText('Your device is ready.').waitFor();
  assert.equal(await page.getByText('This came, and was refused').count(), 0);
  await page.context().close();
});
