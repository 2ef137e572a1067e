// Runs packet sequences of a directory against the broker: conformance.ts DIR [MIN_3] [MIN_5].
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBroker } from '../test/mqtt/open-broker.ts';
import { runSequence, type Sequence, sequencesOf } from '../test/mqtt/sequence.ts';

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const [directory, minimumOld = '95', minimumNew = '90'] = words;
const listsFailures = process.argv.includes('--failures');

interface Row {
  passed: number;
  total: number;
}

/** All sequences of one file, each on a broker of its own state. */
async function runFile(path: string, rows: Map<string, Row>, failures: string[]): Promise<void> {
  const name = path.split('/').at(-1) ?? path;
  for (const sequence of sequencesOf(JSON.parse(readFileSync(path, 'utf8')))) {
    const fault = await runAlone(sequence);
    const key = `${name.replace('.json', '')}\t${sequence.version}`;
    const row = rows.get(key) ?? { passed: 0, total: 0 };
    rows.set(key, row);
    row.total += 1;
    if (fault === undefined) row.passed += 1;
    else failures.push(`${sequence.group}: ${sequence.name}: ${fault}`);
  }
}

/** A broker is made in less than a millisecond: nothing of a sequence reaches the next one. */
async function runAlone(sequence: Sequence): Promise<string | undefined> {
  await using open = await openBroker();
  return await runSequence(sequence, open.port);
}

function percentOf(rows: ReadonlyMap<string, Row>, isNew: boolean): number {
  const wanted = [...rows].filter(([key]) => key.endsWith('\t5') === isNew);
  const total = wanted.reduce((sum, [, row]) => sum + row.total, 0);
  const passed = wanted.reduce((sum, [, row]) => sum + row.passed, 0);
  return total === 0 ? 100 : (100 * passed) / total;
}

async function main(): Promise<number> {
  if (directory === undefined) {
    console.error('usage: npm run conformance -- DIR [MIN_3] [MIN_5] [--failures]');
    return 2;
  }
  const rows = new Map<string, Row>();
  const failures: string[] = [];
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    await runFile(join(directory, file), rows, failures);
  }
  for (const [key, { passed, total }] of rows) console.log(`${key}\t${passed} of ${total}`);
  const old = percentOf(rows, false);
  const fresh = percentOf(rows, true);
  console.log(`3.1 and 3.1.1: ${old.toFixed(1)} %   5: ${fresh.toFixed(1)} %`);
  console.log(`${failures.length} failed${listsFailures ? ':' : ' (--failures lists them)'}`);
  if (listsFailures) for (const failure of failures) console.log(failure);
  return old >= Number(minimumOld) && fresh >= Number(minimumNew) ? 0 : 1;
}

process.exit(await main());
