import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SendTarget, snippet, snippetKinds, valueAddress } from './snippets.ts';

const target: SendTarget = {
  origin: 'https://sensors.example.org',
  host: 'sensors.example.org',
  mqttPort: 1883,
  device: 'pond-1',
  sensor: 'TC',
};

test('every way names the ids of the device', () => {
  for (const kind of snippetKinds) {
    const text = snippet(kind, target);
    assert.ok(text.includes('pond-1') && text.includes('TC'), kind);
  }
});

test('a key stands in every way when one is needed, and nowhere when none is', () => {
  for (const kind of snippetKinds) {
    assert.ok(snippet(kind, { ...target, key: 'kpk_1', username: 'ama' }).includes('kpk_1'));
    assert.ok(!/Authorization|-P /.test(snippet(kind, target)), kind);
  }
});

test('ids that shells or C would read something into are encoded in addresses', () => {
  const address = valueAddress({ ...target, device: 'a!b*c~d$`|', sensor: 'x^{y}' });
  assert.match(address, /^https:[\w/.:%-]+$/);
});

test('plain HTTP is sent without a secure client', () => {
  const text = snippet('Arduino', { ...target, origin: 'http://192.168.1.5:8080' });
  assert.ok(!text.includes('Secure') && text.includes('http.begin(url)'));
});
