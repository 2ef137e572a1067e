import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;

before(async () => {
  stage = await openStage();
  const ama = stage.service.as('ama');
  const push = async (path: string, json: unknown): Promise<void> => {
    const { status, text } = await ama({ method: 'POST', path, json });
    assert.ok(status < 300, text);
  };
  await push('/devices', { id: 'clockless', sensors: [{ id: 'T' }, { id: 'W' }] });
  const untimed = [1, 1, 2.5, '1.10', '=1+1', { a: [1] }].map((value) => ({ value }));
  await push('/devices/clockless/sensors/T/values', untimed);
  await push('/devices/clockless/sensors/W/values', [
    ...[{ value: 3, timestamp: new Date(Date.now() - 60_000).toISOString() }, { value: 4 }],
  ]);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const read = async (): Promise<string> =>
  (await stage.service.as('ama')({ path: '/sensors_data?device_id=clockless&format=csv' })).text;

browserTest('a download of values without a time of measurement brings nothing new', async () => {
  const page = await stage.visit({ username: 'ama' });
  const stored = await read();
  assert.equal(stored.trim().split('\r\n').length, 1 + 6 + 2);
  await page.goto('/devices/clockless/data');
  for (const form of [
    [],
    ['Local time'],
    ['One column for each sensor'],
    ['One column for each sensor', 'Local time'],
  ]) {
    for (const name of form) await page.getByRole('checkbox', { name }).click();
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const buffer = readFileSync(await (await waiting).path());
    await page
      .getByLabel('CSV file')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText('8 values are stored').waitFor();
    assert.equal(await read(), stored, form.join());
    await page.reload();
    await page.getByRole('button', { name: 'Download CSV' }).waitFor();
  }
  await page.context().close();
});
