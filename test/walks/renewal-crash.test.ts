import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { putSmallChunks } from '../contract/storage/small-chunks.ts';
import { embedded } from '../engine.ts';
import { runProgram, startProcess } from '../service-process.ts';
import { createCorrectingClient } from './correcting-client.ts';

const rounds = Number(process.env['KILL_ROUNDS'] ?? 6);
const sensors = ['s0', 's1', 's2', 's3'];
/** Early in a start, while pushes alone are under way, and while chunks are renewed as well. */
const killAfterMs = (round: number): number =>
  40 + ((round * 1_361) % 2_500) + (round % 2 === 1 ? 1_500 : 0);
/** Beyond it a client only corrects and repeats: reading all of it takes the time of the walk. */
const shownMax = 30_000;

/** Makes every row several without summaries, some of them small, as late datapoints might. */
function scatter(directory: string): void {
  using database = new DatabaseSync(join(directory, 'kipimo.db'));
  putSmallChunks(database);
}

embedded(
  `${rounds} times kill -9 while chunks are renewed and corrected under load: all is there once`,
  { timeout: Math.max(180_000, rounds * 15_000) },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kipimo-renewal-'));
    const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
    const clients = sensors.map((id) =>
      createCorrectingClient({
        path: `/api/v2/devices/d1/sensors/${id}`,
        perPush: 900,
        latePerPush: 60,
      }),
    );
    let renewals = 0;
    try {
      for (let round = 0; round < rounds; round += 1) {
        // Every other time the service itself finds the write-ahead log as the kill left it.
        if (round % 2 === 1) scatter(directory);
        await using service = await startProcess({ directory, environment });
        if (round === 0) {
          await fetch(`${service.url}/api/v2/devices`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ id: 'd1', sensors: sensors.map((id) => ({ id })) }),
          });
        }
        for (const client of clients) await client.verify(service.url);
        const load = clients.map(async (client, at) => {
          for (let step = round + at; ; step += 1) {
            const isFull = client.counts.shown > shownMax && step % 5 === 1;
            await client.step(service.url, isFull ? step + 1 : step);
          }
        });
        const ended = Promise.allSettled(load);
        await wait(killAfterMs(round));
        service.kill('SIGKILL');
        await ended;
        assert.equal((await service.exited).signal, 'SIGKILL');
        if (/chunks of datapoints are written anew/.test(service.output())) renewals += 1;
      }
      await using service = await startProcess({ directory, environment });
      for (const client of clients) await client.verify(service.url);
      service.kill('SIGTERM');
      assert.equal((await service.exited).code, 0);
      const told = await runProgram(['doctor', '--json'], { directory, environment });
      const { findings } = JSON.parse(told.stdout) as { findings: readonly { level: string }[] };
      assert.deepEqual(
        findings.filter(({ level }) => level !== 'note'),
        [],
      );
      assert.ok(renewals > 0, 'nothing was ever renewed');
      for (const { counts } of clients) assert.ok(counts.shown > 0 && counts.made > 0);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
