import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserTest, openStage, type Stage } from './browser.ts';

let stage: Stage;

before(async () => {
  stage = await openStage();
  const ama = stage.service.as('ama');
  const json = { id: 'rows', name: 'Rows', sensors: [{ id: 'T' }] };
  assert.ok((await ama({ method: 'POST', path: '/devices', json })).status < 300);
  const good = (value: number) => `{"value":${value}}`;
  const long = `{"value":1,"timestamp":"${'9'.repeat(200)}"}`;
  const { status, headers } = await ama({
    ...{ method: 'POST', path: '/devices/rows/sensors/T/values' },
    headers: { 'content-type': 'application/json' },
    body: `[${[good(1), '{"value":NaN}', good(2), '<img src=x>', long].join(',')}]`,
  });
  assert.deepEqual([status, headers.get('x-refused')], [204, '3']);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

const sentences = {
  en: ['the others were stored', 'No. 2: {"value":NaN}'],
  fr: ['les autres sont enregistrées', 'N° 2 : {"value":NaN}'],
  sw: ['nyingine zimehifadhiwa', 'Na. 2: {"value":NaN}'],
  pt: ['os outros foram guardados', 'N.º 2: {"value":NaN}'],
} as const;

for (const [language, [others, element]] of Object.entries(sentences)) {
  browserTest(`what was refused of an array is named, in ${language}`, async () => {
    for (const width of ['phone', 'desktop'] as const) {
      const page = await stage.visit({ username: 'ama', language, width });
      await page.goto('/devices/rows/send');
      const box = page.locator('.refusals');
      await box.getByText(others).first().waitFor();
      await box.getByText(element).waitFor();
      await box.getByText('/api/v2/devices/rows/sensors/T/values').first().waitFor();
      await box.getByText('<img src=x>').waitFor();
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isWide, false);
      await page.context().close();
    }
  });
}
