import { parseArgs } from 'node:util';
import { formatTimestamp } from '../src/lib/timestamp.ts';
import { table } from '../tools/table.ts';
import { openContestant } from './contest.ts';

// How long an average by day over all devices takes, with 10, 25, 50 and 100 sensors of minutes:
// the first time, and the median of those that follow. Each answer is read whole.
// node bench/many-sensors.ts [--days 70] [--reads 7] [--program ANOTHER_CHECKOUT/bin/kipimo.js]

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '70' },
    reads: { type: 'string', default: '7' },
    program: { type: 'string' },
  },
});
const minuteMs = 60_000;
const minutes = Number(values.days) * 24 * 60;
const from = Math.floor(Date.now() / minuteMs) * minuteMs - minutes * minuteMs;
const ids = Array.from({ length: 100 }, (_, at) => `many${at}`);
const { program } = values;
await using ours = await openContestant(program === undefined ? {} : { program });
const headers = { authorization: `Bearer ${ours.token}`, 'content-type': 'application/json' };

async function send(path: string, body: string): Promise<void> {
  const answer = await fetch(`${ours.url}/api/v2${path}`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

for (const id of ids) await send('/devices', JSON.stringify({ id, sensors: [{ id: 'M' }] }));
const pointsPerPush = 10_000;
for (let minute = 0; minute < minutes; minute += pointsPerPush) {
  const length = Math.min(pointsPerPush, minutes - minute);
  const points = Array.from({ length }, (_, place) => ({
    value: 20 + ((minute + place) % 97) / 10,
    timestamp: formatTimestamp(from + (minute + place) * minuteMs),
  }));
  const body = JSON.stringify(points);
  for (const id of ids) await send(`/devices/${id}/sensors/M/values`, body);
}

async function readMs(count: number): Promise<number> {
  const range = `dateFrom=${formatTimestamp(from)}&limit=1000`;
  const of = `device_id=${ids.slice(0, count).join(',')}&sensor_id=M`;
  const path = `/api/v2/sensors_data?${of}&aggregate=avg&interval=1d&across=devices&${range}`;
  const startedAt = performance.now();
  const answer = await fetch(ours.url + path, { headers });
  const text = await answer.text();
  if (!answer.ok || text.length < 1_000) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
  return performance.now() - startedAt;
}

const rows: string[][] = [['sensors', 'first ms', 'then ms']];
for (const count of [10, 25, 50, 100]) {
  const first = await readMs(count);
  const then: number[] = [];
  for (let read = 0; read < Number(values.reads); read += 1) then.push(await readMs(count));
  const middle = then.toSorted((one, other) => one - other)[Math.floor(then.length / 2)] ?? 0;
  rows.push([`${count}`, first.toFixed(1), middle.toFixed(1)]);
}
process.stdout.write(`${table(rows)}\n`);
