import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPageSettings } from './page-settings.ts';

test('settings are taken from the tag', () => {
  const given = {
    version: '1.2.3',
    tokenLifeSeconds: 60,
    signup: 'closed',
    mqttPort: 2883,
    tileUrl: 'https://tiles.example.org/{z}/{x}/{y}.png',
    tileAttribution: 'Map makers',
    contact: 'Fatou, +221 77 123 45 67',
  };
  assert.deepEqual(readPageSettings(JSON.stringify(given)), given);
});

for (const text of [undefined, null, '', 'nonsense', 'null', '[]', '{"tokenLifeSeconds":-1}']) {
  test(`${JSON.stringify(text)} gives the defaults`, () => {
    assert.deepEqual(readPageSettings(text), {
      version: '',
      tokenLifeSeconds: 600,
      signup: 'open',
      mqttPort: 1883,
    });
  });
}
