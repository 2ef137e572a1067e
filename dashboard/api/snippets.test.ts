import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askingLines,
  hearingLines,
  type ListenedControl,
  listeningPython,
  listeningSketch,
} from './listening.ts';
import { type Board, boards, type SendTarget, valueAddress } from './send-target.ts';
import { canSend } from './sketches.ts';
import { snippet, snippetKinds } from './snippets.ts';

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
  for (const board of boards) {
    const text = snippet('Arduino', { ...target, board, origin: 'http://192.168.1.5:8080' });
    assert.ok(!text.includes('Secure') && !text.includes('https'), board);
  }
});

/** What opens must close, in its order, outside of texts and comments. */
function isBalanced(code: string): boolean {
  const bare = code.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*/g, '');
  const open: string[] = [];
  const closes = new Map([
    ['}', '{'],
    [')', '('],
    [']', '['],
  ]);
  for (const char of bare) {
    if ('{(['.includes(char)) open.push(char);
    else if (closes.has(char) && open.pop() !== closes.get(char)) return false;
  }
  return open.length === 0;
}

test('each sketch is whole: it connects again, looks at the answer, and tries again', () => {
  for (const board of boards) {
    for (const origin of ['http://192.168.1.5:8080', 'https://sensors.example.org']) {
      const text = snippet('Arduino', { ...target, board, origin, key: 'kpk_1' });
      assert.ok(isBalanced(text), `${board}: ${text}`);
      for (const part of ['void setup() {', 'void loop() {', 'bool sendValue(float value) {']) {
        assert.equal(text.split(part).length, 2, `${board} ${part}`);
      }
      assert.match(text, /return status >= 200 && status < 300;/);
      assert.match(text, /!sendValue\(value\)/);
      assert.match(text, /Authorization.*Bearer kpk_1/);
      assert.match(text, board.startsWith('ESP') ? /WL_CONNECTED\) return true/ : /maintain/);
      // Every line that does something ends as C++ wants it.
      for (const line of text.split('\n')) {
        assert.match(line.replace(/\s*\/\/ .*$/, ''), /^$|[;{}]$|^#include <[\w.]+>$/, line);
      }
    }
  }
});

test('a name of a Wi-Fi is what was typed, whatever it has in it', () => {
  const wifi = { name: 'Ama\'s "home"\n??/', password: 'a\\b' };
  const text = snippet('Arduino', { ...target, board: 'ESP32', wifi });
  const lines = text.split('\n');
  assert.ok(lines.includes('const char* network = "Ama\'s \\"home\\"\\?\\?/";'), text);
  assert.ok(lines.includes('const char* password = "a\\\\b";'), text);
});

test('the includes are those of the board', () => {
  const textFor = (board: Board) => snippet('Arduino', { ...target, board });
  assert.match(textFor('ESP32'), /<WiFi\.h>[\s\S]*<HTTPClient\.h>/);
  assert.match(textFor('ESP8266'), /<ESP8266WiFi\.h>[\s\S]*<ESP8266HTTPClient\.h>/);
  assert.match(textFor('Uno + Ethernet'), /<Ethernet\.h>[\s\S]*POST \/api\/v2\/devices\/pond-1/);
  const origin = 'http://192.168.1.5:8080';
  const local = snippet('Arduino', { ...target, board: 'Uno + Ethernet', origin });
  assert.match(
    local,
    /host\[\] = "192\.168\.1\.5";\n.*port = 8080;[\s\S]*Host: 192\.168\.1\.5:8080/,
  );
  assert.equal(canSend('Uno + Ethernet', target.origin), false);
  assert.ok(canSend('Uno + Ethernet', origin) && canSend('ESP8266', target.origin));
});

const pump: ListenedControl = { id: 'pump', kind: 'bool', value: true };

test('each way hears the control and confirms it, with the key', () => {
  const own = { ...target, key: 'kpk_1', username: 'ama' };
  const ways = [
    Object.values(askingLines(own, pump)),
    Object.values(hearingLines(own, pump)),
    [listeningPython(own, pump)],
    ...boards.map((board) => [listeningSketch({ ...own, board }, pump, '23.4')]),
  ];
  for (const texts of ways) {
    for (const text of texts) assert.match(text, /kpk_1[\s\S]*pump|pump[\s\S]*kpk_1/);
    assert.match(texts.join('\n'), /confirmed/);
  }
  assert.doesNotMatch(listeningPython(target, pump), /username_pw_set/);
  assert.match(listeningSketch(target, pump, '1'), /mqtt\.connect\("pond-1"\)/);
});

test('a sketch that listens is whole for each board and each kind of control', () => {
  for (const board of boards) {
    for (const kind of ['bool', 'number', 'string', 'json'] as const) {
      const text = listeningSketch({ ...target, board, key: 'k' }, { ...pump, kind }, '23.4');
      assert.ok(isBalanced(text), text);
      assert.match(text, /mqtt\.subscribe\(controlTopic, 1\)/);
      assert.match(text, /sensors\/TC\/value/);
      for (const line of text.split('\n')) {
        assert.match(line.replace(/\s*\/\/ .*$/, ''), /^$|[;{}]$|^#include <[\w.]+>$/, line);
      }
    }
  }
});

test('a setting with a quote in it stays one word of a shell', () => {
  const { confirm } = hearingLines(target, { id: 'sign', kind: 'string', value: "it's" });
  assert.ok(confirm.endsWith(`-m '{"value":"it'\\''s","confirmed":true}'`), confirm);
});
