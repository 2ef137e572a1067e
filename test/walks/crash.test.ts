import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProcess } from '../service-process.ts';
import { createPushLoad } from './push-load.ts';

const rounds = Number(process.env['KILL_ROUNDS'] ?? 20);
const connections = 8;

/** How many answers a round lets through: early and late, never twice the same. */
const answersOf = (round: number): number => 1 + ((round * 97) % 211);

test(`${rounds} times kill -9 under load: all that was acknowledged is there, once`, {
  timeout: Math.max(180_000, rounds * 15_000),
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-crash-'));
  const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
  const load = createPushLoad(connections);
  try {
    for (let round = 0; round < rounds; round += 1) {
      await using service = await startProcess({ directory, environment });
      await load.prepare(service.url);
      await load.verify(service.url);
      await load.resend(service.url);
      const killAt = load.acknowledgedCount + answersOf(round);
      await load.run(service.url, (count) => {
        if (count >= killAt) service.kill('SIGKILL');
      });
      assert.equal((await service.exited).signal, 'SIGKILL');
    }
    await using service = await startProcess({ directory, environment });
    await load.verify(service.url);
    await load.resend(service.url);
    await load.verify(service.url);
    assert.ok(load.acknowledgedCount >= rounds, 'no push was ever acknowledged');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
