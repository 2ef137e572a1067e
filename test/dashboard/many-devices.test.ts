import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
const count = 120;
const hourMs = 3_600_000;

before(async () => {
  stage = await openStage();
  const as = stage.service.as('kwame');
  for (let number = 1; number <= count; number += 1) {
    const json = { id: `n-${number}`, name: `Well ${number} north`, sensors: [{ id: 'L' }] };
    assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
    // The last ones fell silent, each an hour after the one before.
    const silent = Math.max(0, number - (count - 5));
    const timestamp = new Date(Date.now() - silent * 4 * hourMs).toISOString();
    const path = `/devices/n-${number}/sensors/L/value`;
    const pushed = { value: number, timestamp };
    assert.equal((await as({ method: 'POST', path, json: pushed })).status, 204);
  }
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('many devices are counted, sorted by trouble, and found by words', async () => {
  const page = await stage.visit({ username: 'kwame', width: 'phone' });
  await page.goto('/');
  await page.getByText(`In total: ${count} devices`).waitFor();
  // What is above the devices takes few lines of a phone.
  const tops = [
    await page.getByRole('link', { name: 'New device' }).boundingBox(),
    await page.getByRole('button', { name: 'As a list' }).boundingBox(),
  ].map((box) => Math.round(box?.y ?? 0));
  assert.equal(tops[0], tops[1], tops.join());
  await page.getByRole('link', { name: '5 need attention' }).click();
  const lines = page.locator('.device-line');
  await page.getByRole('heading', { name: '5 devices are silent' }).waitFor();
  assert.equal(await lines.count(), count);
  assert.match(await lines.first().innerText(), /Well 120 north/);
  assert.match(await lines.nth(5).innerText(), /Well 1 north/);
  assert.match(await lines.nth(6).innerText(), /Well 2 north/);
  await page.getByRole('searchbox').fill('north 117');
  await lines.nth(1).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'As a list' }).click();
  await page.locator('.card', { hasText: 'Well 117 north' }).waitFor();
  await page.context().close();
});

browserTest('a long value leaves the name of its device room in the lines', async () => {
  const json = { id: 'talker', name: 'The old well behind the school', sensors: [{ id: 'L' }] };
  const send = async (path: string, body: unknown): Promise<void> => {
    const sent = { method: 'POST', path, json: body };
    assert.equal((await stage.service.as('yaa')(sent)).status, 204);
  };
  await send('/devices', json);
  await send('/devices/talker/sensors/L/value', { value: 'the pump runs again '.repeat(9) });
  const page = await stage.visit({ username: 'yaa', width: 'phone' });
  await page.goto('/?look=lines');
  const line = page.locator('.device-line');
  const name = await line.locator('.line-name').boundingBox();
  const all = await line.boundingBox();
  assert.ok((name?.width ?? 0) > (all?.width ?? 0) / 3, `${name?.width} of ${all?.width} px`);
  assert.ok((all?.height ?? 0) < 120, `${all?.height} px high`);
  await page.context().close();
});

browserTest('back returns to the place in the list', async () => {
  const page = await stage.visit({ username: 'kwame', width: 'phone' });
  await page.goto('/?look=cards');
  await page.getByRole('button', { name: 'Show more' }).click();
  const card = page.locator('.card', { hasText: 'Well 90 north' });
  await card.scrollIntoViewIfNeeded();
  const before = await page.evaluate<number>('scrollY');
  assert.ok(before > 2_000, String(before));
  await card.click();
  await page.getByRole('heading', { name: 'Well 90 north' }).waitFor();
  await page.goBack();
  await page.waitForFunction(
    (wanted) => Math.abs(Number(Reflect.get(globalThis, 'scrollY')) - wanted) < 4,
    before,
  );
  await card.waitFor();
  await page.context().close();
});

for (const language of ['en', 'fr', 'sw', 'pt']) {
  browserTest(
    `a long name leaves the greeting on one line of a phone, in ${language}`,
    async () => {
      const username = 'emmanuella-oluwaseun';
      const page = await stage.visit({ username, width: 'phone', language });
      await page.goto('/');
      const title = page.locator('.home-head h1');
      await title.getByText(username).waitFor();
      // Letters of 18 px: two lines would take 40 px and more.
      const height = (await title.boundingBox())?.height ?? 0;
      assert.ok(height > 0 && height < 36, `${height} px high`);
      assert.match((await title.getAttribute('title')) ?? '', new RegExp(username));
      await page.context().close();
    },
  );
}

for (const width of Object.keys(widths) as Width[]) {
  browserTest(`the devices of one gateway are picked by its name, on a ${width}`, async () => {
    const username = `owner-${width}`;
    const send = async (path: string, json: unknown): Promise<void> => {
      const { status, text } = await stage.service.as(username)({ method: 'POST', path, json });
      assert.ok(status < 300, `${path}: ${status} ${text}`);
    };
    for (const [place, name] of [
      ['roof', 'On the roof'],
      ['barn', 'In the barn'],
    ]) {
      const id = `gw-${place}-${width}`;
      await send('/gateways', { id, name, visibility: 'private' });
      await send('/devices', { id: `of-${id}`, name: `Seen ${name}`, gateway_id: id });
    }
    const theme = width === 'phone' ? 'dark' : 'light';
    const page = await stage.visit({ username, width, theme });
    await page.goto('/');
    await page.locator('.card').nth(1).waitFor();
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Gateway').selectOption({ label: 'In the barn' });
    await page.locator('.card', { hasText: 'Seen On the roof' }).waitFor({ state: 'detached' });
    await page.locator('.card', { hasText: 'Seen In the barn' }).waitFor();
    assert.equal(await page.locator('.card').count(), 1);
    assert.equal(new URL(page.url()).searchParams.get('gateway'), `gw-barn-${width}`);
    // Whoever gets the address sees the same, and the name that was picked.
    await page.reload();
    await page.locator('.card', { hasText: 'Seen In the barn' }).waitFor();
    assert.equal(await page.locator('.card').count(), 1);
    const chosen = page.getByLabel('Gateway').locator('option:checked');
    assert.equal(await chosen.textContent(), 'In the barn');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.locator('.card').nth(1).waitFor();
    await page.context().close();
  });
}
