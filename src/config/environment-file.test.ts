import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from './config.ts';
import { parseEnvironmentFile, readEnvironment, watchSettings } from './environment-file.ts';

test('names, quotes, comments and empty lines are read as people write them', () => {
  const text = [
    '\uFEFF# settings',
    '',
    'A=1',
    ' B = two words # and a comment',
    "C='a # b'",
    'D="x=\'y\'" # why',
    'export E=5',
    'F=',
    'G=a#b',
    'H=#nothing',
  ].join('\r\n');
  assert.deepEqual(parseEnvironmentFile(text), {
    A: '1',
    B: 'two words',
    C: 'a # b',
    D: "x='y'",
    E: '5',
    F: '',
    G: 'a#b',
    H: '',
  });
});

test('nothing is expanded', () => {
  assert.deepEqual(parseEnvironmentFile('A=$HOME\nB="\\n"'), { A: '$HOME', B: '\\n' });
});

test('every line that is not an assignment is refused by its number', () => {
  assert.throws(
    () => parseEnvironmentFile('A=1\nnonsense\n1B=2\nC="open\nA=2\nD="x" y'),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(error.problems, [
        '.env line 2: must be NAME=value, or # and a comment',
        '.env line 3: must be NAME=value, or # and a comment',
        '.env line 4: the quote that opens the value of C does not end it',
        '.env line 5: A is given a second time',
        '.env line 6: the quote that opens the value of D does not end it',
      ]);
      return true;
    },
  );
});

test('the real environment wins over .env, and a directory without .env is fine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-env-'));
  try {
    assert.deepEqual(readEnvironment(directory, { A: 'real' }), { A: 'real' });
    writeFileSync(join(directory, '.env'), 'A=file\nB=file\n');
    assert.deepEqual(readEnvironment(directory, { A: 'real' }), { A: 'real', B: 'file' });
    writeFileSync(join(directory, '.env'), `#${'x'.repeat(65_536)}`);
    assert.throws(() => readEnvironment(directory, {}), /at most 65536 bytes/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('settings that were changed since the start are named, those of the environment hold', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-env-'));
  try {
    const file = join(directory, '.env');
    writeFileSync(file, 'KIPIMO_SIGNUP=open\nKIPIMO_HOST=::1\nOTHER=1');
    const changed = watchSettings(directory, { KIPIMO_HOST: '127.0.0.1' });
    assert.deepEqual(changed(), []);
    writeFileSync(file, 'KIPIMO_LOG_LEVEL=warn\nKIPIMO_HOST=::2\nOTHER=2');
    assert.deepEqual(changed(), ['KIPIMO_SIGNUP', 'KIPIMO_LOG_LEVEL']);
    writeFileSync(file, 'nonsense');
    assert.deepEqual(changed(), ['.env']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
