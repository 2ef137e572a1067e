import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { temporaryDirectory } from '../../src/storage/contract/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { askAs } from '../old-databases/world.ts';
import { runProgram, startProcess } from '../service-process.ts';
import { minute } from '../v2/sensor-endpoint.ts';

const folder = join(import.meta.dirname, '..', 'old-databases');
const waitMsMax = 120_000;
const aggregates = 'count,min,max,sum,first,last,increase';
/** Sensors with five chunks of version 1 each: more than a few steps can do. */
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

const versionsIn = (directory: string): string => {
  using database = new DatabaseSync(join(directory, 'kipimo.db'), { readOnly: true });
  const versions = 'group_concat(distinct hex(substr(datapoints, 1, 1)))';
  return String(database.prepare(`select ${versions} as them from chunks`).get()?.['them']);
};

embedded(
  'a data directory of version 0.1 is brought to the newest chunks while it serves',
  async (context) => {
    const directory = temporaryDirectory(context);
    unpack(directory);
    assert.equal(versionsIn(directory), '01');
    const environment = { KIPIMO_LOG_LEVEL: 'info' };
    const pushed: { value: number; timestamp: string }[] = [];
    let [values, days]: unknown[] = [];
    let renewed = 0;
    // Killed on the way the first time, and it goes on.
    for (const isFirst of [true, false]) {
      await using service = await startProcess({ directory, environment });
      const ama = await askAs(service, 'ama');
      const admin = await askAs(service, 'admin');
      const valuesOf = async (sensor: string): Promise<readonly unknown[]> => {
        const { json } = await ama({ path: `/devices/farm/sensors/${sensor}/values?limit=10000` });
        return (json as Record<string, unknown>[]).map((one) => ({ ...one, sensor_id: 'any' }));
      };
      const metric = async (name: string): Promise<number> => {
        const { text } = await admin({ path: '//metrics' });
        return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
      };
      const daysOf = async (sensor: string): Promise<unknown> => {
        const query = `aggregate=${aggregates}&interval=1d&timezone=Asia/Kolkata`;
        return (await ama({ path: `/devices/farm/sensors/${sensor}/values?${query}` })).json;
      };
      values ??= await valuesOf('copy0');
      days ??= await daysOf('copy0');
      const deadline = performance.now() + waitMsMax;
      for (;;) {
        const datapoint = { value: pushed.length, timestamp: minute(100_000 + pushed.length) };
        const path = '/devices/farm/sensors/level/values';
        const { status, text } = await ama({ method: 'POST', path, json: datapoint });
        assert.equal(status, 204, text);
        pushed.push(datapoint);
        const sensor = sensors[1 + (pushed.length % copies)] ?? '';
        assert.deepEqual(await valuesOf(sensor), values, sensor);
        assert.deepEqual(await daysOf(sensor), days, sensor);
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
      for (const sensor of sensors.slice(1)) {
        assert.deepEqual(await valuesOf(sensor), values, sensor);
        assert.deepEqual(await daysOf(sensor), days, sensor);
      }
      assert.ok(Array.isArray(days) && days.length > 0);
      const level = (await valuesOf('level')) as typeof pushed;
      assert.deepEqual(
        level
          .filter(({ timestamp }) => timestamp >= minute(100_000))
          .slice(0, pushed.length)
          .map(({ value, timestamp }) => ({ value, timestamp })),
        pushed,
      );
      const told = await runProgram(['doctor', '--json'], { directory, environment });
      assert.deepEqual(
        (JSON.parse(told.stdout) as { findings: readonly unknown[] }).findings,
        [],
        told.stdout,
      );
      assert.match(service.output(), /chunks of datapoints are written anew in the background/);
      assert.match(service.output(), /chunks of datapoints were written anew/);
      service.kill('SIGTERM');
      assert.equal((await service.exited).code, 0);
    }
    assert.equal(versionsIn(directory), '02');
  },
);
