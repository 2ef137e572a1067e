// Takes mends out one by one, and expects the test of each to fail:
// node scripts/planted.ts ['part of a name' …]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Patch, type Plant, plants } from './plants.ts';

const root = resolve(import.meta.dirname, '..');
const copied = ['src', 'test', 'package.json', 'tsconfig.json'];
const linked = ['node_modules', 'dist'];
/** Longer than any of the tests takes; without its mend one may never end. */
const testMsMax = 240_000;

const endless: (budget: string) => Patch = (budget) => ({
  file: 'src/domain/budgets/budgets.ts',
  from: 'scaled(budgetTable[name], totals[name])',
  to: `scaled(budgetTable[name], name === '${budget}' ? 2 ** 50 : totals[name])`,
});

/** A copy of the sources in a directory of its own, without what the plant takes out. */
function copyWithout({ budget, patches = [] }: Plant): string {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-planted-'));
  for (const name of copied) cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const name of linked) symlinkSync(join(root, name), join(directory, name));
  const all = budget === undefined ? patches : [endless(budget), ...patches];
  for (const { file, from, to } of all) {
    const path = join(directory, file);
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2) throw new Error(`${file} has "${from}" ${parts.length - 1} times`);
    writeFileSync(path, parts.join(to));
  }
  return directory;
}

/** Whether the plant is noticed: its test fails where its mend is missing. */
async function isNoticed(plant: Plant): Promise<boolean> {
  const directory = copyWithout(plant);
  try {
    const pattern = plant.test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const words = ['--test', '--test-force-exit', `--test-name-pattern=${pattern}`];
    const child = spawn(process.execPath, [...words, `test/neighbours/${plant.file}`], {
      ...{ cwd: directory, stdio: ['ignore', 'pipe', 'ignore'], timeout: testMsMax },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await once(child, 'close');
    const count = (what: string): number =>
      Number(new RegExp(`^ℹ ${what} (\\d+)`, 'm').exec(output)?.[1] ?? 0);
    // One that had to be ended was held up for good: that is noticed as well.
    return count('pass') === 0 && (count('fail') > 0 || child.signalCode !== null);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
let missed = 0;
for (const plant of plants) {
  if (wanted.length > 0 && !wanted.some((part) => plant.name.includes(part))) continue;
  const startedAt = performance.now();
  const isGood = await isNoticed(plant);
  if (!isGood) missed += 1;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(
    `${isGood ? '✔ noticed' : '✖ missed '}  ${plant.name}  (${plant.file}, ${seconds} s)\n`,
  );
}
process.stdout.write(`${missed === 0 ? 'every plant was noticed' : `${missed} missed`}\n`);
process.exit(missed === 0 ? 0 : 1);
