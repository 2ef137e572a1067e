import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
const pupils = Array.from({ length: 30 }, (_, index) => `pupil-${index + 1}`);

before(async () => {
  stage = await openStage();
  for (const username of pupils) await stage.service.tokenOf(username);
  const as = stage.service.as('teacher');
  for (const id of ['pond', 'roof', 'garden']) {
    const sensors = [{ id: 'TC', name: 'Water' }];
    const json = { id, name: `The ${id}`, visibility: 'private', sensors };
    assert.equal((await as({ method: 'POST', path: '/devices', json })).status, 204);
    const path = `/devices/${id}/sensors/TC/value`;
    assert.equal((await as({ method: 'POST', path, json: { value: 21.5 } })).status, 204);
  }
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const statusOf = async (username: string, device: string): Promise<number> =>
  (await stage.service.as(username)({ path: `/devices/${device}/sensors/TC/values` })).status;

browserTest('a teacher shares a project with a class, and one pupil leaves', async () => {
  const page = await stage.visit({ username: 'teacher', width: 'phone' });
  await makeClass(page);
  await makeProject(page);
  await page.getByRole('button', { name: 'Class 4B' }).click();
  await page.getByText('group Class 4B can see the project').waitFor();
  await page.getByText('Shared with it: The pond, The roof').waitFor();
  for (const pupil of ['pupil-1', 'pupil-17', 'pupil-30']) {
    assert.equal(await statusOf(pupil, 'pond'), 200, pupil);
    assert.equal(await statusOf(pupil, 'garden'), 403, pupil);
  }
  const pupil = await stage.visit({ username: 'pupil-17', theme: 'dark' });
  await seeAsPupil(pupil);
  await leaveClass(page, pupil);
  await stopSharing(page);
  await page.context().close();
});

async function makeClass(page: Page): Promise<void> {
  await page.goto('/sharing');
  await page.getByRole('link', { name: 'My groups' }).click();
  await page.getByRole('button', { name: 'New group' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the group').fill('Class 4B');
  await dialog.getByLabel('Usernames').fill(`${pupils.join('\n')}\nnobody-1, nobody-2`);
  await dialog.getByRole('button', { name: 'New group' }).click();
  await dialog.getByText('nobody-1, nobody-2').waitFor();
  await dialog.getByLabel('Usernames').fill(pupils.join('\n'));
  await dialog.getByRole('button', { name: 'New group' }).click();
  await page.getByRole('heading', { name: 'Class 4B' }).waitFor();
  await page.getByText('30 people').waitFor();
}

async function makeProject(page: Page): Promise<void> {
  await page.goto('/projects');
  await page.getByRole('button', { name: 'New project' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('Water at school');
  await page.getByRole('dialog').getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('The pond').check();
  await page.getByLabel('The roof').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Project saved').waitFor();
  await page.getByRole('link', { name: 'Share' }).click();
  await page.getByText('This also shares the devices and gateways in the project').waitFor();
}

async function seeAsPupil(page: Page): Promise<void> {
  await page.goto('/?whose=shared');
  await page.getByRole('link', { name: 'The pond' }).getByText('21.5').waitFor();
  await page.getByRole('link', { name: 'The roof' }).waitFor();
  await page.goto('/sharing');
  await page.getByText('by the group Class 4B').waitFor();
  await page.getByRole('link', { name: 'Water at school' }).click();
  await page.getByRole('heading', { name: 'Water at school' }).waitFor();
  await page.goto('/devices/pond');
  await page.getByRole('link', { name: 'Water' }).getByText('21.5').waitFor();
}

async function leaveClass(page: Page, pupil: Page): Promise<void> {
  await page.goto('/groups');
  await page.getByRole('link', { name: 'Class 4B' }).click();
  await page.getByText('group Class 4B can see the project').waitFor();
  const takeOut = page.getByRole('button', { name: 'Remove pupil-17' });
  await takeOut.click();
  await page.getByText('pupil-17 is no longer in the group').waitFor();
  assert.equal(await statusOf('pupil-17', 'pond'), 403);
  assert.equal(await statusOf('pupil-16', 'pond'), 200);
  await undo(page, 'pupil-17 is no longer in the group');
  await page.getByText('pupil-17 is in the group again').waitFor();
  assert.equal(await statusOf('pupil-17', 'pond'), 200);
  await takeOut.click();
  await page.getByText('29 people').waitFor();
  await pupil.reload();
  await pupil.getByRole('heading', { name: 'This device is private' }).waitFor();
  await pupil.context().close();
}

async function stopSharing(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Water at school' }).click();
  await page.getByRole('button', { name: 'Stop sharing' }).click();
  await page.getByText('group Class 4B has no access any more').waitFor();
  assert.equal(await statusOf('pupil-1', 'pond'), 403);
  await undo(page, 'group Class 4B has no access any more');
  await page.getByText('Shared with group Class 4B again').waitFor();
  assert.equal(await statusOf('pupil-1', 'pond'), 200);
}

/** Takes back what was just said; an earlier offer may stand beside it. */
async function undo(page: Page, said: string): Promise<void> {
  const toast = page.locator('.toast', { hasText: said });
  await toast.last().getByRole('button', { name: 'Undo' }).click();
}
