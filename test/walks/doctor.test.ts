import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { startService } from '../service.ts';
import { runProgram } from '../service-process.ts';
import { doorOf, minute } from '../v2/sensor-endpoint.ts';

interface Told {
  readonly level: string;
  readonly isInUse: boolean;
  readonly findings: readonly { readonly level: string; readonly sentence: string }[];
  readonly disk: { readonly datapointsPerDay: number; readonly daysLeft?: number };
  readonly syncs: { readonly medianMs: number; readonly p99Ms: number };
}

const examine = async (directory: string) => {
  const environment = { KIPIMO_DATA_DIR: directory, KIPIMO_DISK_FLOOR_BYTES: '0' };
  const ended = await runProgram(['doctor', '--json'], { directory, environment });
  assert.ok(ended.stdout !== '', ended.stderr);
  return { code: ended.code, told: JSON.parse(ended.stdout) as Told };
};

embedded(
  'kipimo doctor looks beside a service that is pushed to, and finds what is damaged',
  async (t) => {
    const directory = temporaryDirectory(t);
    {
      await using service = await startService({ directory });
      const device = { id: 'field', sensors: [{ id: 'TC1' }] };
      assert.equal(
        (await service.call({ method: 'POST', path: '/devices', json: device })).status,
        204,
      );
      const sensor = doorOf(service, 'field', 'TC1');
      const values = Array.from({ length: 20_000 }, (_, n) => ({ value: n, timestamp: minute(n) }));
      await sensor.push(values);
      let isOver = false;
      const load = (async () => {
        for (let n = 0; !isOver; n += 1)
          await sensor.push([{ value: n, timestamp: minute(-n - 1) }]);
      })();
      const { code, told } = await examine(directory);
      isOver = true;
      await load;
      assert.deepEqual(told.findings, []);
      assert.deepEqual([code, told.level, told.isInUse], [0, 'fine', true]);
      assert.ok(told.syncs.medianMs > 0 && told.syncs.p99Ms >= told.syncs.medianMs);
      // Of years ago: nothing of it says how fast the disk fills.
      assert.deepEqual([told.disk.datapointsPerDay, told.disk.daysLeft], [0, undefined]);
    }
    const whole = await examine(directory);
    assert.deepEqual([whole.code, whole.told.isInUse], [0, false]);

    {
      using database = new DatabaseSync(join(directory, 'kipimo.db'));
      database.exec("insert into damaged_log_rows values (1, 'broken', x'')");
    }
    const warned = await examine(directory);
    assert.deepEqual([warned.code, warned.told.level], [1, 'warning']);
    {
      using database = new DatabaseSync(join(directory, 'kipimo.db'));
      database.exec('delete from chunks where id = (select min(id) from chunks)');
    }
    const damaged = await examine(directory);
    assert.equal(damaged.code, 2);
    assert.match(
      damaged.told.findings[0]?.sentence ?? '',
      /^Of field\/TC1 \d+ datapoints of \d+ are/,
    );
    const words = ['doctor', '--data-dir', directory];
    const text = await runProgram(words, { directory });
    assert.equal(text.code, 2);
    assert.match(text.stdout, /\ndamage: Of field\/TC1 .*\n {2}Restore a backup/);
    assert.match(text.stdout, /\nsyncs {5}\d/);
    const nowhere = await runProgram(['doctor', '--data-dir', join(directory, 'no')], {
      directory,
    });
    assert.equal(nowhere.code, 3);
    assert.match(nowhere.stderr, /holds no data of Kipimo/);
  },
);
