// Takes mends out one by one, and expects the test of each to fail:
// node scripts/planted.ts ['part of a name or file' …]; --check looks only whether each still fits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { plants } from './plants/index.ts';
import { complaintsAbout, type Plant, plantedFiles } from './plants/plant.ts';

const root = resolve(import.meta.dirname, '..');
const copied = [
  'src',
  'dashboard',
  'tools',
  'test',
  'scripts',
  'bin',
  'deploy',
  'package.json',
  'tsconfig.json',
];
const linked = ['node_modules', 'dist'];
/** Without its mend an attack is worse than a busy machine: four times what the tests accept. */
const honestMs = 8_000;
/** Longer than any of the tests takes; without its mend one may never end. */
const testMsMax = 600_000;

/** A copy of the sources in a directory of its own, without what the plant takes out. */
function copyWithout(plant: Plant): string {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-planted-'));
  for (const name of copied) cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const name of linked) symlinkSync(join(root, name), join(directory, name));
  for (const [file, text] of plantedFiles(root, plant)) writeFileSync(join(directory, file), text);
  return directory;
}

/** Runs the one test; what it writes, or undefined when it does not end. */
async function outputOf(
  directory: string,
  { test, file, environment, servedMs = honestMs }: Plant,
): Promise<string | undefined> {
  const pattern = test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const words = ['--test-force-exit', '--test-reporter=spec', `--test-name-pattern=${pattern}`];
  const child = spawn(process.execPath, [...words, file], {
    // A group of its own: the services that it started end with it.
    ...{ cwd: directory, stdio: ['ignore', 'pipe', 'ignore'], detached: true },
    env: {
      NEIGHBOURS_MS: String(servedMs),
      ...process.env,
      ...environment,
    },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    endGroup();
  }, testMsMax);
  await once(child, 'close');
  clearTimeout(patience);
  endGroup();
  return isLate ? undefined : output;
}

const messageCharactersMax = 600;

/** What the test said when it failed; undefined: it passed, or there was no such test. */
function failureIn(output: string): string | undefined {
  const count = (what: string) =>
    Number(new RegExp(`^ℹ ${what} (\\d+)`, 'm').exec(output)?.[1] ?? 0);
  if (count('fail') === 0) return undefined;
  const [, told = ''] = output.split('✖ failing tests:\n');
  const [said = ''] = told.split(/^\s+at /m);
  const lines = said.split('\n').filter((line) => !/^test at |^✖ /.test(line.trim()));
  return lines.join('\n').trim();
}

/** Whether the test of a plant fails, and says what it has to; with what it said. */
async function tryPlant(plant: Plant): Promise<{ isNoticed: boolean; said: string }> {
  const directory = copyWithout(plant);
  try {
    const output = await outputOf(directory, plant);
    if (output === undefined) return { isNoticed: false, said: 'the test did not end' };
    const said = failureIn(output);
    if (said === undefined) return { isNoticed: false, said: 'the test did not fail' };
    return { isNoticed: plant.says.test(said), said: said.slice(0, messageCharactersMax) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean' } },
  allowPositionals: true,
});
const wanted = plants.filter(
  ({ name, file }) =>
    positionals.length === 0 || positionals.some((part) => `${name} ${file}`.includes(part)),
);
if (wanted.length === 0) throw new Error(`no plant has ${positionals.join(' or ')} in its name`);
const complaints = wanted.flatMap((plant) => complaintsAbout(root, plant));
for (const complaint of complaints) process.stdout.write(`${complaint}\n`);
if (complaints.length > 0) process.exit(1);
let missed = 0;
for (const plant of values.check === true ? [] : wanted) {
  const startedAt = performance.now();
  const { isNoticed, said } = await tryPlant(plant);
  if (!isNoticed) missed += 1;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(
    `${isNoticed ? '✔ noticed' : '✖ missed '}  ${plant.name}  (${plant.file}, ${seconds} s)\n` +
      `${said.replaceAll(/^/gm, '      ')}\n`,
  );
}
const conclusion = values.check === true ? 'every plant fits' : 'every plant was noticed';
process.stdout.write(`${missed === 0 ? conclusion : `${missed} missed`}\n`);
process.exit(missed === 0 ? 0 : 1);
