import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
  const json = { id: 'gauge', visibility: 'private', sensors: [{ id: 'RA', name: 'Pluie' }] };
  const { status } = await stage.service.as('ama')({ method: 'POST', path: '/devices', json });
  assert.equal(status, 204);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

browserTest('rows of a file that are refused say why in the language of the reader', async () => {
  const page = await stage.visit({ username: 'ama', width: 'phone', language: 'fr' });
  await page.goto('/devices/gauge/data');
  const rows = 'timestamp,value\nhier,3\n2026-03-20T11:00:00Z,nan\n2026-03-20T12:00:00Z,4\n';
  const file = { name: 'pluie.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.locator('main form button[type=submit]').last().tap();
  await page.getByText('Ligne 3 : « nan » n’est pas un nombre').waitFor();
  assert.equal(await page.getByText(/must be|no number/).count(), 0);
  await page.context().close();
});
