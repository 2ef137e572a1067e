import assert from 'node:assert/strict';
import { test } from 'node:test';
import quantityKinds from '../../src/wire/vocabulary/quantity-kinds.json' with { type: 'json' };
import sensorKinds from '../../src/wire/vocabulary/sensor-kinds.json' with { type: 'json' };
import units from '../../src/wire/vocabulary/units.json' with { type: 'json' };
import { foundById, idOf, inWords, labelOf, type Vocabulary } from '../api/terms.ts';
import type { Term } from '../api/types.ts';
import { languages } from './languages.ts';
import { termWords } from './term-words.ts';

const vocabularies: Readonly<Record<Vocabulary, readonly Term[]>> = {
  sensor_kinds: sensorKinds,
  quantity_kinds: quantityKinds,
  units,
};
const names = Object.keys(vocabularies) as readonly Vocabulary[];

/** Words that French rightly writes as English does. */
const asTheId: ReadonlySet<string> = new Set([
  ...['Distance', 'Hydrophone', 'Orientation', 'Position'],
]);

for (const language of languages) {
  test(`each term of the vocabularies has one name of its own in ${language}`, async () => {
    const { terms: words } = await termWords[language]();
    for (const name of names) {
      const ids = vocabularies[name].map(({ id }) => id);
      const own = Object.keys(words[name]);
      const needed = language === 'en' && name !== 'units' ? [] : ids;
      assert.deepEqual([...own].sort(), [...needed].sort(), name);
      const labels = inWords(vocabularies[name], name, words, language).map(({ label }) => label);
      assert.equal(new Set(labels.map((label) => label.toLowerCase())).size, ids.length, name);
      for (const label of labels) {
        assert.match(label, /\S/);
        assert.doesNotMatch(label, /[a-z]{3}[A-Z][a-z]/, 'no name is written as an id');
      }
    }
    if (language === 'en') return;
    for (const { id } of [...sensorKinds, ...quantityKinds]) {
      const label = words.sensor_kinds[id] ?? words.quantity_kinds[id];
      assert.ok(label !== id || asTheId.has(id), `${id} is ${label}`);
    }
  });
}

test('a term is found by the name that the reader has for it, and by its id', async () => {
  const { terms: words } = await termWords.fr();
  const quantities = inWords(quantityKinds, 'quantity_kinds', words, 'fr');
  assert.equal(labelOf(quantities, 'WaterLevel'), 'Niveau d’eau');
  assert.equal(labelOf(quantities, 'My own'), 'My own');
  assert.equal(idOf(quantities, ' niveau d’eau'), 'WaterLevel');
  assert.equal(idOf(quantities, 'temperature de l’air'), 'AirTemperature');
  assert.equal(idOf(quantities, 'waterlevel'), 'WaterLevel');
  assert.equal(idOf(quantities, 'Niveau'), 'Niveau');
  const byId = foundById(quantities, 'waterl');
  assert.deepEqual(
    byId.map(({ id }) => id),
    ['WaterLevel'],
  );
  assert.deepEqual(foundById(quantities, 'niveau'), []);
  const named = inWords(units, 'units', words, 'fr');
  assert.equal(labelOf(named, 'Centimetre'), 'centimètre (cm)');
  assert.equal(labelOf(named, 'Dimensionless'), 'sans unité');
  assert.equal(labelOf(named, 'Bar'), 'bar');
});
