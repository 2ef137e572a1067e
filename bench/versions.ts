import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../tools/table.ts';
import { contest, openContestant } from './contest.ts';

// This checkout beside another one, both built, in alternating slices:
// node bench/versions.ts OTHER_CHECKOUT [--pairs 30] [--seconds 1] [--only bulk]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('name the other checkout');
// The first pair is thrown away.
const pace = { sliceMs: Number(values.seconds) * 1_000, rounds: Number(values.pairs) + 1 };
const programOf = (checkout: string) => join(resolve(checkout), 'bin', 'kipimo.js');

await using ours = await openContestant({ program: programOf(join(import.meta.dirname, '..')) });
await using theirs = await openContestant({ program: programOf(other) });
const rows = await contest(ours, theirs, { pace, only: values.only });
const head = ['what', 'ours', 'theirs', 'ratio', '95 % interval of the median'];
process.stdout.write(`${table([head, ...rows])}\n`);
