import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const hidden = '\u001b[?25l';
const shown = '\u001b[?25h';
const interrupt = '\u0003';

/** Runs the program on a terminal of its own; types Ctrl-C once a progress bar is there. */
async function interruptedOnTerminal(words: readonly string[], directory: string) {
  const quoted = [process.execPath, mainFile, ...words].map((word) => `'${word}'`).join(' ');
  // script of util-linux: a pseudo-terminal, whose exit code it passes on.
  const child = spawn('script', ['--quiet', '--return', '--command', quoted, '/dev/null'], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], TERM: 'xterm', SHELL: '/bin/sh' },
  });
  let output = '';
  let isTyped = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (isTyped || !output.includes(hidden)) return;
    isTyped = true;
    child.stdin.write(interrupt);
  });
  const [code] = await once(child, 'close');
  return { output, code: Number(code) };
}

test('Ctrl-C in import csv leaves the terminal with its cursor', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-terminal-'));
  // It never answers: the command is in the middle of its work when it is interrupted.
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  try {
    writeFileSync(join(directory, 'rows.csv'), '2026-01-01T00:00:00Z,1\n');
    const words = ['import', 'csv', 'rows.csv', '--url', url, '--device', 'd', '--sensor', 's'];
    const { output, code } = await interruptedOnTerminal(words, directory);
    assert.ok(output.includes(hidden), 'it was hidden');
    assert.ok(output.lastIndexOf(shown) > output.lastIndexOf(hidden), 'it is shown again');
    assert.equal(code, 130, 'and the command has left as one that was interrupted');
  } finally {
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  }
});
