import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, halves, leavings, openHalf } from '../raw-connections.ts';
import { startProcess } from '../service-process.ts';

/** A little more than the service waits for the first byte of a connection. */
const silenceMs = 10_600;
/** The service waits 10 s for those who are connected. */
const stopMs = 15_000;

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-silent-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('connections that said nothing for 10.6 s leave in any way, and the service stays', () =>
  inDirectory(async (directory) => {
    await using service = await startProcess({ directory });
    const { hostname: host, port } = new URL(service.url);
    const place: Endpoint = { host, port: Number(port) };
    const open = () =>
      Object.entries(leavings).flatMap(([, leave]) =>
        Object.values(halves).map(async (bytes) => ({
          leave,
          socket: await openHalf(place, bytes, { reads: false }),
        })),
      );
    const sockets = await Promise.all(open());
    await sleep(silenceMs);
    for (const { leave, socket } of sockets) leave(socket);
    await sleep(500);
    const reply = await fetch(`${service.url}/healthz`);
    assert.equal(reply.status, 200, service.output());
    for (const { socket } of sockets) socket.destroy();

    // Nor does anybody who stays connected hinder its end.
    await Promise.all(open());
    service.kill('SIGTERM');
    const exit = await Promise.race([service.exited, sleep(stopMs, 'it did not end')]);
    assert.deepEqual(exit, { code: 0, signal: null });
  }));
