import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPageSettings } from './page-settings.ts';
import { readTokenLifeMs } from './token-life.ts';

test('settings are taken from the tag', () => {
  const given = {
    version: '1.2.3',
    signup: 'closed',
    mqttPort: 2883,
    tileUrl: 'https://tiles.example.org/{z}/{x}/{y}.png',
    tileAttribution: 'Map makers',
    contact: 'Fatou, +221 77 123 45 67',
  };
  const text = JSON.stringify({ ...given, tokenLifeSeconds: 60 });
  assert.deepEqual(readPageSettings(text), given);
  assert.equal(readTokenLifeMs(text), 60_000);
});

for (const text of [undefined, null, '', 'nonsense', 'null', '[]', '{"tokenLifeSeconds":-1}']) {
  test(`${JSON.stringify(text)} gives the defaults`, () => {
    assert.deepEqual(readPageSettings(text), {
      version: '',
      signup: 'open',
      mqttPort: 1883,
    });
    assert.equal(readTokenLifeMs(text), 600_000);
  });
}
