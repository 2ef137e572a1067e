import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;

before(async () => {
  stage = await openStage();
  const as = stage.service.as('awa');
  const sensors = [{ id: 'TC', name: 'Water' }];
  const device = { id: 'pond', name: 'The pond', visibility: 'private', sensors };
  assert.equal((await as({ method: 'POST', path: '/devices', json: device })).status, 204);
  const path = '/devices/pond/sensors/TC/value';
  assert.equal((await as({ method: 'POST', path, json: { value: 21.5 } })).status, 204);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

for (const width of ['phone', 'desktop'] as const) {
  browserTest(`an invitation leads from its link to the value, on a ${width}`, async () => {
    const owner = await stage.visit({ username: 'awa', width });
    await owner.goto('/devices/pond/share');
    await owner.getByRole('heading', { name: 'Invite by link' }).waitFor();
    await owner.getByLabel('For how many people').fill('2');
    await owner.getByRole('button', { name: 'Make a link' }).click();
    const link = await owner.getByRole('region', { name: 'Link to join' }).textContent();
    assert.match(link ?? '', /\/join\/[\w-]{43}$/);
    await owner.locator('svg.qr').waitFor();
    await owner.getByRole('listitem').getByText('for 2 more people').waitFor();
    await assertAccessible(owner);
    const invited = await stage.visit({ width });
    await invited.goto(link ?? '');
    await invited.getByRole('heading', { name: 'awa invites you' }).waitFor();
    await invited.getByText('The pond').waitFor();
    await assertAccessible(invited);
    await invited.getByLabel('Username').fill(`fatou-${width}`);
    await invited.getByLabel('Password', { exact: true }).fill('cassava-0815');
    await invited.getByRole('button', { name: 'Create' }).click();
    await invited.getByRole('heading', { name: 'The pond' }).waitFor();
    await invited.getByText('21.5').first().waitFor();
    await invited.context().close();
    await owner.reload();
    await owner.getByText('for 1 more person').waitFor();
    await owner.getByRole('button', { name: 'Revoke' }).click();
    await owner.getByText('The link does not work any more').waitFor();
    const late = await stage.visit({ width });
    await late.goto(link ?? '');
    await late.getByText('This invitation was revoked').waitFor();
    await late.context().close();
    await owner.context().close();
  });
}

browserTest('who has an account joins a group with one tap', async () => {
  const as = stage.service.as('awa');
  const json = { name: 'Class 4B', usernames: [] };
  const group = (await as({ method: 'POST', path: '/groups', json })).text;
  const path = `/devices/pond/grants/groups/${group}`;
  await as({ method: 'PUT', path, json: ['devices-data:view'] });
  const owner = await stage.visit({ username: 'awa' });
  await owner.goto(`/groups/${group}`);
  await owner.getByRole('button', { name: 'Make a link' }).click();
  const link = await owner.getByRole('region', { name: 'Link to join' }).textContent();
  const pupil = await stage.visit({ username: 'kofi' });
  await pupil.goto(link ?? '');
  await pupil.getByRole('button', { name: 'Join as kofi' }).click();
  await pupil.getByRole('link', { name: 'The pond' }).getByText('21.5').waitFor();
  await pupil.context().close();
  await owner.context().close();
});

async function assertAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate('globalThis.axe !== undefined'))) await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)');
  const told = (found as axe.Result[]).map(({ id, nodes }) => [id, nodes[0]?.html]);
  assert.deepEqual(told, []);
}
