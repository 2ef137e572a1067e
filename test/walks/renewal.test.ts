import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { askAs, levelAt, levels } from '../old-databases/world.ts';
import { runProgram, startProcess } from '../service-process.ts';
import { minute } from '../v2/sensor-endpoint.ts';

const folder = join(import.meta.dirname, '..', 'old-databases');
const waitMsMax = 120_000;
const aggregates = 'count,min,max,sum,first,last,increase';
const [dayMs, kolkataMs] = [86_400_000, 19_800_000];
/** Sensors with five chunks without summaries each: more than a few steps can do. */
const copies = 60;
const sensors = ['level', ...Array.from({ length: copies }, (_, n) => `copy${n}`)];

/** A data directory as version 0.1 left it, with the datapoints of one sensor many times over. */
function unpack(directory: string): void {
  const told = JSON.parse(readFileSync(join(folder, '0.1.json'), 'utf8')) as { secret: string };
  const path = join(directory, 'kipimo.db');
  writeFileSync(path, brotliDecompressSync(readFileSync(join(folder, '0.1.sqlite.br'))));
  writeFileSync(join(directory, 'secret'), `${told.secret}\n`);
  using database = new DatabaseSync(path);
  database.exec('begin');
  const level = "(select series from sensors where device_id = 'farm' and sensor_id = 'level')";
  for (const id of sensors.slice(1)) {
    const copy = `(select series from sensors where device_id = 'farm' and sensor_id = '${id}')`;
    database.exec(`
      insert into sensors (device_id, sensor_id, details)
        select device_id, '${id}', details from sensors where series = ${level};
      insert into chunks (series, min_time, max_time, count, datapoints)
        select ${copy}, min_time, max_time, count, datapoints from chunks
        where series = ${level} order by id;
      insert into last_values (series, sealed, timestamp, received_at, value)
        select ${copy}, sealed, timestamp, received_at, value from last_values
        where series = ${level}`);
  }
  database.exec('commit');
}

const chunksIn = (directory: string): number => {
  using database = new DatabaseSync(join(directory, 'kipimo.db'), { readOnly: true });
  return Number(database.prepare('select count(*) as n from chunks').get()?.['n']);
};

/** Whether each chunk of 256 datapoints or more has a summary. */
const isSummarised = (directory: string): boolean => {
  using database = new DatabaseSync(join(directory, 'kipimo.db'), { readOnly: true });
  const lacking = 'count >= 256 and id not in (select chunk from chunk_summaries)';
  return database.prepare(`select 1 from chunks where ${lacking}`).get() === undefined;
};

interface Value {
  readonly value: number;
  readonly timestamp?: string;
  readonly date_received?: string;
}

const timeOf = ({ timestamp, date_received }: Value): number =>
  Date.parse(timestamp ?? date_received ?? '');
const told = ({ timestamp, value }: Value) => [timestamp, value];

interface Day {
  readonly timestamp: string;
  readonly [name: string]: string | number;
}

/** Days of Kolkata, as simply as possible; sums to the millionth. */
function daysOf(values: readonly Value[]): unknown {
  // Of a counter that may start again; a glitch is passed over [contract 15].
  const kept = values.filter(({ value }, at) => {
    const [before, next] = [values[at - 1]?.value, values[at + 1]?.value];
    if (before === undefined || next === undefined || next < before) return true;
    return value >= before && value <= next;
  });
  const rises = new Map(
    kept.slice(1).map((one, at) => {
      const before = kept[at]?.value ?? 0;
      return [one, one.value < before ? Math.max(0, one.value) : one.value - before];
    }),
  );
  const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
  const days = Map.groupBy(values, (one) => Math.floor((timeOf(one) + kolkataMs) / dayMs));
  return Array.from(days, ([day, those]) => {
    const numbers = those.map(({ value }) => value);
    return {
      ...{ timestamp: day * dayMs - kolkataMs, count: numbers.length },
      ...{ min: Math.min(...numbers), max: Math.max(...numbers), sum: total(numbers).toFixed(6) },
      ...{ first: numbers[0], last: numbers.at(-1) },
      increase: total(those.map((one) => rises.get(one) ?? 0)).toFixed(6),
    };
  });
}

const asTold = ({ timestamp, sum, increase, ...rest }: Day) => ({
  ...{ timestamp: Date.parse(timestamp), ...rest },
  ...{ sum: Number(sum).toFixed(6), increase: Number(increase).toFixed(6) },
});

embedded(
  'a data directory of version 0.1 is brought to few chunks with summaries while it serves',
  async (context) => {
    const directory = temporaryDirectory(context);
    unpack(directory);
    const before = chunksIn(directory);
    assert.equal(before, 5 * sensors.length);
    const environment = { KIPIMO_LOG_LEVEL: 'info' };
    const lists = new Map<string, Value[]>();
    let [renewed, turn] = [0, 0];
    // Killed on the way the first time, and it goes on.
    for (const isFirst of [true, false]) {
      await using service = await startProcess({ directory, environment });
      const ama = await askAs(service, 'ama');
      const admin = await askAs(service, 'admin');
      const metric = async (name: string): Promise<number> => {
        const { text } = await admin({ path: '//metrics' });
        return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
      };
      const pathOf = (sensor: string) => `/devices/farm/sensors/${sensor}/values`;
      const read = async (sensor: string) =>
        (await ama({ path: `${pathOf(sensor)}?limit=10000` })).json as Value[];
      /** Each value and each day is what a plain list has. */
      const compare = async (sensor: string): Promise<void> => {
        const list = lists.get(sensor) ?? [];
        assert.deepEqual((await read(sensor)).map(told), list.map(told), sensor);
        const query = `aggregate=${aggregates}&interval=1d&timezone=Asia/Kolkata`;
        const { json } = await ama({ path: `${pathOf(sensor)}?${query}` });
        assert.deepEqual((json as Day[]).map(asTold), daysOf(list), sensor);
      };
      const push = async (sensor: string, one: Value): Promise<void> => {
        const { status, text } = await ama({ method: 'POST', path: pathOf(sensor), json: one });
        assert.equal(status, 204, text);
        const list = lists.get(sensor) ?? [];
        const at = list.findIndex((other) => timeOf(other) > timeOf(one));
        list.splice(at < 0 ? list.length : at, 0, one);
      };
      for (const sensor of isFirst ? sensors : []) {
        const list = await read(sensor);
        const asPushed = Array.from({ length: levels }, (_, n) => levelAt(n));
        assert.deepEqual(list.slice(0, levels).map(told), asPushed.map(told), sensor);
        lists.set(sensor, list);
        // The writer never rests, so that the walk is not over when it is killed.
        turn += 1;
        await push('level', { value: turn, timestamp: minute(100_000 + turn) });
      }
      const deadline = performance.now() + waitMsMax;
      for (;;) {
        turn += 1;
        await push('level', { value: turn, timestamp: minute(100_000 + turn) });
        const sensor = sensors[1 + (turn % copies)] ?? '';
        // Now and then one that belongs in the midst of an old chunk.
        const late = new Date(Date.parse(minute((turn * 37) % levels)) + 1_000 + turn);
        if (turn % 3 === 0) await push(sensor, { value: -turn, timestamp: late.toISOString() });
        await compare(sensor);
        renewed = await metric('kipimo_chunks_renewed_total');
        if (isFirst && renewed > 0) break;
        if ((await metric('kipimo_chunks_to_look_at')) === 0 && renewed > 0) break;
        assert.ok(performance.now() < deadline, `${renewed} chunks renewed`);
        await wait(20);
      }
      if (isFirst) {
        service.kill('SIGKILL');
        await service.exited;
        continue;
      }
      assert.equal(await metric('kipimo_chunks_unreadable'), 0);
      for (const sensor of sensors) await compare(sensor);
      const doctor = await runProgram(['doctor', '--json'], { directory, environment });
      assert.deepEqual(
        (JSON.parse(doctor.stdout) as { findings: readonly unknown[] }).findings,
        [],
        doctor.stdout,
      );
      assert.match(service.output(), /chunks of datapoints are written anew in the background/);
      assert.match(service.output(), /chunks of datapoints were written anew/);
      service.kill('SIGTERM');
      assert.equal((await service.exited).code, 0);
    }
    assert.ok(chunksIn(directory) <= before * 0.6, `${chunksIn(directory)} of ${before}`);
    assert.ok(isSummarised(directory));
  },
);
