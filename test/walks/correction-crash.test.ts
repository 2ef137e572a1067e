import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProcess } from '../service-process.ts';
import { createCorrectingClient } from './correcting-client.ts';

const rounds = Number(process.env['KILL_ROUNDS'] ?? 6);

test(`${rounds} times kill -9 while values are corrected: all of each correction, or none`, {
  timeout: Math.max(180_000, rounds * 15_000),
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-corrections-'));
  const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
  const client = createCorrectingClient({
    path: '/api/v2/devices/d1/sensors/s1',
    perPush: 5,
    latePerPush: 0,
  });
  let number = 0;
  try {
    for (let round = 0; round < rounds; round += 1) {
      await using service = await startProcess({ directory, environment });
      if (round === 0) {
        await fetch(`${service.url}/api/v2/devices`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id: 'd1', sensors: [{ id: 's1' }] }),
        });
      }
      await client.verify(service.url);
      for (let step = 0; step < 3 + (round % 6); step += 1) {
        await client.step(service.url, number);
        number += 1;
      }
      // Somewhere on the way of one more.
      const dying = client.step(service.url, number).catch(() => undefined);
      number += 1;
      for (let turn = 0; turn < (round * 7) % 23; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      service.kill('SIGKILL');
      await dying;
      assert.equal((await service.exited).signal, 'SIGKILL');
    }
    await using service = await startProcess({ directory, environment });
    await client.verify(service.url);
    assert.ok(
      client.counts.shown > 2.5 * rounds && client.counts.made > 0,
      JSON.stringify(client.counts),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});
