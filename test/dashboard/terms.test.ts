import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { languages } from '../../dashboard/i18n/languages.ts';
import { usualNames } from '../../dashboard/i18n/usual-names.ts';
import { assertAccessible } from './accessible.ts';
import { browserTest, openStage, type Stage, type Width, widths } from './browser.ts';

let stage: Stage;
const path = '/devices/tank/sensors/WL';
const water = { id: 'WL', name: 'Water level', quantity_kind: 'WaterLevel', unit: 'Centimetre' };

before(async () => {
  stage = await openStage();
  const sensors = [water, { id: 'TC', name: 'Next to the door' }];
  await send('POST', '/devices', { id: 'tank', name: 'Tank', sensors });
  await send('POST', `${path}/value`, { value: 80 });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  assert.deepEqual(stage.faults, []);
});

async function send(method: 'GET' | 'POST', at: string, json?: object): Promise<unknown> {
  const reply = await stage.service.as('ama')({ method, path: at, ...(json && { json }) });
  assert.ok(reply.status < 300, reply.text);
  return reply.json;
}

/** Labels of the form; then what stands in it, and a unit and a quantity to choose. */
const words = {
  en: {
    labels: ['Edit', 'What it measures', 'Unit'],
    before: ['Water level', 'Water level', 'centimetre (cm)'],
    chosen: ['degree Celsius (°C)', 'Water temperature'],
  },
  fr: {
    labels: ['Modifier', 'Ce qu’il mesure', 'Unité'],
    before: ['Niveau d’eau', 'Niveau d’eau', 'centimètre (cm)'],
    chosen: ['degré Celsius (°C)', 'Température de l’eau'],
  },
  sw: {
    labels: ['Hariri', 'Kinapima nini', 'Kipimo'],
    before: ['Kiwango cha maji', 'Kiwango cha maji', 'sentimita (cm)'],
    chosen: ['digrii selsiasi (°C)', 'Joto la maji'],
  },
  pt: {
    labels: ['Editar', 'O que mede', 'Unidade'],
    before: ['Nível da água', 'Nível da água', 'centímetro (cm)'],
    chosen: ['grau Celsius (°C)', 'Temperatura da água'],
  },
} as const;

for (const language of languages) {
  for (const width of Object.keys(widths) as Width[]) {
    browserTest(`a sensor is described in words of its reader, ${language}, ${width}`, async () => {
      const { labels, before: shown, chosen } = words[language];
      const [edit, measures, unit] = labels;
      const page = await stage.visit({ username: 'ama', language, width });
      for (const place of ['/', '/devices/tank']) {
        await page.goto(place);
        await page.getByText(usualNames[language].waterLevel).first().waitFor();
      }
      await page.getByText('Next to the door').first().waitFor();
      await page.goto(path);
      await page.locator('summary', { hasText: edit }).click();
      const form = page.locator('form', { has: page.getByLabel(measures) });
      const fields = [form.getByRole('textbox').first(), form.getByLabel(measures)];
      const values = () =>
        Promise.all([...fields, form.getByLabel(unit)].map((field) => field.inputValue()));
      const isNamed = ([name, quantity]: readonly string[]) => `${name}|${quantity}`;
      for (let n = 0; n < 100 && isNamed(await values()) !== isNamed(shown); n++) {
        await page.waitForTimeout(50);
      }
      assert.deepEqual(await values(), shown);
      // An id is as good as a name.
      await form.getByLabel(measures).fill('watertemperature');
      await form.getByLabel(unit).fill(chosen[0]);
      await form.getByLabel(unit).blur();
      assert.deepEqual((await values()).slice(1), [chosen[1], chosen[0]]);
      await assertAccessible(page);
      await form.getByRole('button').click();
      await page.locator('.toast').waitFor();
      const saved = (await send('GET', path)) as typeof water;
      assert.deepEqual(
        [saved.name, saved.quantity_kind, saved.unit],
        ['Water level', 'WaterTemperature', 'DegreeCelsius'],
      );
      await send('POST', '/devices/tank/sensors', water);
      await page.context().close();
    });
  }
}
