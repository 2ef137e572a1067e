import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { startService } from '../service.ts';
import { runProgram } from '../service-process.ts';
import { doorOf, minute } from '../v2/sensor-endpoint.ts';

const bytesOf = (directory: string): number => statSync(join(directory, 'kipimo.db')).size;

embedded('kipimo compact makes a database of before small, and every value is there', async (t) => {
  const directory = temporaryDirectory(t);
  // As version 0.1 left it: without auto_vacuum, with pages that are free.
  using early = new DatabaseSync(join(directory, 'kipimo.db'));
  early.exec('pragma journal_mode = wal; create table early (x)');
  early.exec('insert into early values (zeroblob(3000000)); drop table early');
  early.close();
  const environment = { KIPIMO_DATA_DIR: directory };
  const values = Array.from({ length: 20_000 }, (_, n) => n / 10);
  {
    await using service = await startService({ directory });
    const device = { id: 'field', sensors: [{ id: 'TC1' }, { id: 'TC2' }] };
    await service.as('ama')({ method: 'POST', path: '/devices', json: device });
    for (const id of ['TC1', 'TC2']) {
      await doorOf(service, 'field', id).push(
        values.map((value, at) => ({ value, timestamp: minute(at) })),
      );
    }
    const beside = await runProgram(['compact'], { directory, environment });
    assert.equal(beside.code, 1);
    assert.match(beside.stderr, /in use by another kipimo: stop that one/);
  }
  const before = bytesOf(directory);
  const done = await runProgram(['compact', '--json'], { directory, environment });
  assert.equal(done.code, 0, done.stderr);
  const told = JSON.parse(done.stdout) as Record<string, number>;
  assert.deepEqual([told['bytesBefore'], told['bytesAfter']], [before, bytesOf(directory)]);
  assert.ok(bytesOf(directory) < before / 2, `${before} ${bytesOf(directory)}`);
  const again = await runProgram(['compact'], { directory, environment });
  assert.match(again.stdout, /^The database had .* MiB, 0.0 MiB of them free; now it has/);

  await using service = await startService({ directory });
  const query = '?limit=1&order=desc';
  const reply = await service.as('ama')({ path: `/devices/field/sensors/TC1/values${query}` });
  assert.equal(reply.headers.get('x-total-count'), String(values.length));
  const all = await doorOf(service, 'field', 'TC1').read('?limit=1000&offset=19000');
  assert.deepEqual(
    (all.json as { value: number }[]).map(({ value }) => value),
    values.slice(19_000),
  );
  await doorOf(service, 'field', 'TC1').push([{ value: 1, timestamp: minute(30_000) }]);
});
