import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminPassword, passwordOf, startService } from '../service.ts';
import { openProgram, type ServiceProcess, startProcess } from '../service-process.ts';
import { copiedInventoryOf, fill, inventoryOf, startProxy } from './cloud-world.ts';

/** A service that can be killed, and is there again at the same address. */
async function startCrasher(directory: string) {
  const keys = { KIPIMO_ADMIN_PASSWORD: adminPassword, KIPIMO_LOG_LEVEL: 'info' };
  let process: ServiceProcess = await startProcess({ directory, environment: keys });
  const { url } = process;
  const environment = { ...keys, KIPIMO_HTTP_PORT: new URL(url).port };
  return {
    url,
    async crash() {
      process.kill('SIGKILL');
      await process.exited;
      process = await startProcess({ directory, environment });
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

test('a copy outlives kill -9 of the service it reads from and of the one it fills', async () => {
  const root = mkdtempSync(join(tmpdir(), 'kipimo-cloud-crash-'));
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  for (const directory of [from, to]) mkdirSync(directory);
  try {
    {
      await using source = await startService({ directory: from });
      await using target = await startService({ directory: to });
      await fill(source, 4, 1_000);
      await target.tokenOf('kofi');
    }
    for (const name of ['ama', 'kofi']) writeFileSync(join(root, name), passwordOf(name));
    const crashes: Promise<void>[] = [];
    {
      await using source = await startCrasher(from);
      await using target = await startCrasher(to);
      let pushes = 0;
      await using proxy = await startProxy(target.url, ({ url }) => {
        if (url?.startsWith('/api/v2/sensors_data')) pushes += 1;
        if (pushes === 2 && crashes.length === 0) crashes.push(target.crash());
        if (pushes === 5 && crashes.length === 1) crashes.push(source.crash());
        return 'pass';
      });
      const words = [
        ...['import', 'cloud', '--from', source.url, '--user', 'ama', '--password-file', 'ama'],
        ...['--to', proxy.url, '--to-user', 'kofi', '--to-password-file', 'kofi'],
      ];
      const running = openProgram(words, { directory: root });
      assert.equal((await running.exited).code, 0, running.errors());
      await Promise.all(crashes);
    }
    assert.equal(crashes.length, 2);
    await using source = await startService({ directory: from });
    await using target = await startService({ directory: to });
    assert.deepEqual(await inventoryOf(target, 'kofi'), await copiedInventoryOf(source, 'ama'));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
