import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from '../tools/bench/rounds.ts';
import { table } from '../tools/table.ts';
import { fillYear, openContestant } from './contest.ts';

// What reads of a sensor with a year of minutes take of the processors, in this checkout and in
// another one, both built, in turns:
// node bench/value-reads.ts OTHER_CHECKOUT [--pairs 20] [--only values]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('name the other checkout');
const programOf = (checkout: string) => join(resolve(checkout), 'bin', 'kipimo.js');

const sensor = '/api/v2/devices/year/sensors/S/values';
const of = '/api/v2/sensors_data?device_id=year';
const all = 'limit=525600';
/** Reads of about as long: a path, and how often it is read at a time. */
const allReads = [
  ['values, 10,000 as JSON', `${sensor}?limit=10000&offset=200000`, 20],
  ['values, all as JSON', `${sensor}?${all}`, 1],
  ['values, all as CSV', `${sensor}?${all}&format=csv`, 1],
  ['values, the last 100', `${sensor}?lastN=100`, 300],
  ['values, by hour', `${sensor}?aggregate=avg&interval=1h`, 10],
  ['sensors_data, all as JSON', `${of}&${all}`, 1],
  ['sensors_data, all as CSV', `${of}&${all}&format=csv`, 1],
  ['export of the device', '/api/v2/devices/year/export', 1],
] as const;

const reads = allReads.filter(([what]) => what.startsWith(values.only));

type Contestant = Awaited<ReturnType<typeof openContestant>>;

/** Milliseconds of the processors that all threads of a process have used. */
function usedMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const used = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]);
  return threads.reduce((sum, thread) => sum + used(thread), 0) / 1_000_000;
}

async function read({ url, token, pid }: Contestant, path: string, times: number): Promise<number> {
  const before = usedMs(pid);
  for (let time = 0; time < times; time += 1) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    const { byteLength } = await answer.arrayBuffer();
    if (!answer.ok || byteLength < 1_000) throw new Error(`${path}: ${answer.status}`);
  }
  return (usedMs(pid) - before) / times;
}

await using ours = await openContestant({ program: programOf(join(import.meta.dirname, '..')) });
await using theirs = await openContestant({ program: programOf(other) });
const sides = [ours, theirs] as const;
for (const { url, token, startAt } of sides) await fillYear(url, token, startAt);

const taken = new Map(reads.map(([what]) => [what, [[], []] as [number[], number[]]]));
for (let round = 0; round <= Number(values.pairs); round += 1) {
  for (const [what, path, times] of reads) {
    for (const turn of [round % 2, 1 - (round % 2)] as const) {
      const ms = await read(sides[turn === 0 ? 0 : 1], path, times);
      // The first pair is thrown away.
      if (round > 0) taken.get(what)?.[turn === 0 ? 0 : 1].push(ms);
    }
  }
}

const csv = median(taken.get('values, all as CSV')?.[0] ?? []);
const rows = [...taken].map(([what, [own, others]]) => {
  const ratios = own.map((ms, at) => ms / (others[at] ?? Number.NaN)).toSorted((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(ratios.length);
  const low = ratios[Math.max(0, Math.floor(ratios.length / 2 - reach))] ?? Number.NaN;
  const high = ratios[Math.min(ratios.length - 1, Math.ceil(ratios.length / 2 + reach - 1))];
  return [
    ...[what, median(own).toFixed(1), median(others).toFixed(1), median(ratios).toFixed(3)],
    `${low.toFixed(3)} to ${(high ?? Number.NaN).toFixed(3)}`,
    // The least of all is what others on the machine disturbed least.
    (Math.min(...own) / Math.min(...others)).toFixed(3),
    (median(own) / csv).toFixed(2),
  ];
});
const head = [
  ...['what', 'ours ms', 'theirs', 'ratio', '95 % interval of the median'],
  ...['ratio of the least', 'of all as CSV'],
];
process.stdout.write(`${table([head, ...rows])}\n`);
