import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { ConfigError } from '../config/config.ts';
import { PortError } from '../lib/port-error.ts';
import { type CommandEntry, commands } from './commands.ts';
import { sentencesOf } from './failure.ts';
import { createProgram } from './program.ts';

function recordingCommands() {
  const loaded: string[] = [];
  const ran: string[] = [];
  const entries: CommandEntry[] = ['serve', 'user'].map((name) => ({
    name,
    summary: `about ${name}`,
    load: async () => {
      loaded.push(name);
      return new Command(name).option('--port <number>').action(() => {
        ran.push(name);
      });
    },
  }));
  return { entries, loaded, ran };
}

async function parse(words: readonly string[]) {
  const recorded = recordingCommands();
  const program = await createProgram(words, recorded.entries);
  await program.parseAsync(words, { from: 'user' });
  return recorded;
}

test('no command means serve', async () => {
  assert.deepEqual((await parse([])).ran, ['serve']);
});

test('options without a command are those of serve', async () => {
  assert.deepEqual((await parse(['--port', '8081'])).ran, ['serve']);
});

test('only the file of the command that runs is loaded', async () => {
  const { loaded, ran } = await parse(['user']);
  assert.deepEqual(loaded, ['user']);
  assert.deepEqual(ran, ['user']);
});

test('the help lists every command with its summary', async () => {
  const program = await createProgram(['--help'], commands);
  // Long ones are broken into lines.
  const help = program.helpInformation().replaceAll(/\s+/g, ' ');
  assert.ok(commands.length > 1);
  for (const { name, summary } of commands) {
    assert.ok(help.includes(name) && help.includes(summary), name);
  }
});

test('every command of the list loads under its own name and describes itself', async () => {
  for (const { name, load } of commands) {
    const command = await load();
    assert.equal(command.name(), name);
    assert.notEqual(command.description(), '');
  }
});

test('settings that are wrong become one sentence each', () => {
  assert.deepEqual(sentencesOf(new ConfigError(['A is bad', 'B is bad'])), [
    'A is bad',
    'B is bad',
  ]);
});

test('failures of the system become sentences that say what to change', () => {
  const failure = (code: string) => Object.assign(new Error('x'), { code });
  const setting = 'KIPIMO_MQTT_PORT';
  const taken = new PortError({ port: 8080, setting, cause: failure('EADDRINUSE') });
  assert.match(sentencesOf(taken).join(), /port 8080 is taken.*KIPIMO_MQTT_PORT/);
  const closed = new PortError({ port: 80, setting, cause: failure('EACCES') });
  assert.match(sentencesOf(closed).join(), /above 1023 with KIPIMO_MQTT_PORT/);
  for (const code of ['EADDRNOTAVAIL', 'ENOTFOUND']) {
    const absent = new PortError({ port: 80, setting, cause: failure(code) });
    assert.match(sentencesOf(absent).join(), /set KIPIMO_HOST/);
  }
  assert.deepEqual(sentencesOf(failure('EACCES')), ['x']);
  assert.deepEqual(sentencesOf('thrown text'), ['thrown text']);
});

test('a command ends without a word when nobody reads what it prints', async () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, 'completion', 'bash'], { stdio: 'pipe' });
  child.stdout.destroy();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  assert.deepEqual([code, said], [0, '']);
});
