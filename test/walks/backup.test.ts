import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { backUp, restoreBackup } from '../../tools/admin/sqlite/backup.ts';
import { embedded } from '../engine.ts';
import { startService } from '../service.ts';
import { runProgram } from '../service-process.ts';
import { doorOf, minute, valuesOf } from '../v2/sensor-endpoint.ts';

let root: string;

before(() => {
  root = mkdtempSync(join(tmpdir(), 'kipimo-backup-'));
});

after(() => rmSync(root, { recursive: true, force: true }));

const place = (name: string) => join(root, name);
const quietly = () => undefined;
const restore = (file: string, directory: string, isForced = false) =>
  restoreBackup({ file, directory, isForced, label: 'aside', onProgress: quietly });

embedded('a backup taken during a load has all that was acknowledged before it began', async () => {
  const [directory, file] = [place('loaded'), place('loaded.backup')];
  const acknowledged: number[] = [];
  let atBegin = 0;
  {
    await using service = await startService({ directory });
    const device = { id: 'field', sensors: [{ id: 'TC1' }] };
    await service.as('ama')({ method: 'POST', path: '/devices', json: device });
    const sensor = doorOf(service, 'field', 'TC1');
    let isCopied = false;
    const load = (async () => {
      for (let n = 0; !isCopied || n < 400; n += 20) {
        const numbers = Array.from({ length: 20 }, (_, index) => n + index);
        await sensor.push(numbers.map((value) => ({ value, timestamp: minute(value) })));
        acknowledged.push(...numbers);
        if (n === 200) {
          atBegin = acknowledged.length;
          void backUp({ directory, file, onProgress: quietly }).finally(() => {
            isCopied = true;
          });
        }
      }
    })();
    await load;
  }
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const copy = place('loaded-copy');
  await restore(file, copy);
  assert.equal(
    readFileSync(join(copy, 'secret'), 'utf8'),
    readFileSync(join(directory, 'secret'), 'utf8'),
  );
  await using restored = await startService({ directory: copy });
  const values = valuesOf(await doorOf(restored, 'field', 'TC1').all());
  assert.ok(atBegin >= 220 && values.length >= atBegin, `${values.length} of ${atBegin}`);
  assert.deepEqual(values, acknowledged.slice(0, values.length));
  // Accounts came along, with their passwords.
  assert.equal((await restored.as('ama')({ path: '/users/me' })).status, 200);
});

embedded(
  'a restore runs neither beside a service nor over data, unless it may move that',
  async () => {
    const [directory, file] = [place('here'), place('here.backup')];
    {
      await using service = await startService({ directory });
      await service.call({ method: 'POST', path: '/devices', json: { id: 'kept' } });
      await backUp({ directory, file, onProgress: quietly });
      const { json } = await service.as('admin')({ path: '/admin/service' });
      const { last_backup_at } = json as { readonly last_backup_at?: string };
      assert.ok(Date.now() - Date.parse(last_backup_at ?? '') < 60_000, last_backup_at);
      await assert.rejects(restore(file, directory, true), /in use by another kipimo/);
      await service.call({ method: 'POST', path: '/devices', json: { id: 'later' } });
    }
    await assert.rejects(restore(file, directory), /there is data in .*--force/);
    const { movedTo } = await restore(file, directory, true);
    assert.equal(movedTo, join(directory, 'aside'));
    assert.ok(existsSync(join(directory, 'aside', 'kipimo.db')));
    await using service = await startService({ directory });
    const ids = (await service.call({ path: '/devices' })).json as { id: string }[];
    assert.deepEqual(
      ids.map(({ id }) => id),
      ['kept'],
    );
  },
);

embedded('what is no backup is refused, and leaves nothing behind', async () => {
  const [directory, file] = [place('empty'), place('no.backup')];
  await assert.rejects(restore(file, directory), /there is no file/);
  writeFileSync(file, 'not a database'.repeat(100));
  await assert.rejects(restore(file, directory), /not a backup that can be used/);
  await assert.rejects(restore(join(place('here'), 'kipimo.db'), directory), /made by something/);
  assert.ok(!existsSync(directory) || readdirSync(directory).length === 0);
  await assert.rejects(
    backUp({ directory: place('nowhere'), file: place('x.backup'), onProgress: quietly }),
    /there is no database/,
  );
  await assert.rejects(
    backUp({ directory: place('here'), file, onProgress: quietly }),
    /exists: choose another name/,
  );
});

embedded('kipimo backup and kipimo restore do it from the command line', async () => {
  const environment = { KIPIMO_DATA_DIR: place('here') };
  const file = place('by-command.backup');
  const made = await runProgram(['backup', file], { directory: root, environment });
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /Wrote .*by-command.backup/);
  const words = ['restore', file, '--data-dir', place('by-command')];
  const put = await runProgram(words, { directory: root });
  assert.equal(put.code, 0, put.stderr);
  assert.ok(existsSync(join(place('by-command'), 'kipimo.db')));
  const again = await runProgram(words, { directory: root });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^kipimo: there is data in /);
});
