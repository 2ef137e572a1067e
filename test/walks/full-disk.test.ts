import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import mqtt from 'mqtt';
import { embedded } from '../engine.ts';
import { startProcess } from '../service-process.ts';

/** A disk of its own with 48 MiB; undefined where this account may not mount one. */
function mountDisk(context: TestContext): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', directory], {
      stdio: 'ignore',
    });
  } catch {
    rmdirSync(directory);
    return undefined;
  }
  context.after(() => {
    execFileSync('umount', [directory]);
    rmdirSync(directory);
  });
  return directory;
}

/** Takes all the room that is left on the disk, to the last byte. */
function fill(path: string, directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(path, Buffer.alloc(bavail * bsize));
}

embedded(
  'a disk that is full to the last byte is 507; reads go on, pushes later',
  async (context) => {
    const disk = mountDisk(context);
    if (disk === undefined) return context.skip('this account may not mount a file system');
    const ballast = join(disk, 'ballast');
    await using service = await startProcess({
      directory: disk,
      environment: { KIPIMO_DISK_FLOOR_BYTES: '0' },
    });
    const devices = `${service.url}/api/v2/devices`;
    const values = `${devices}/d/sensors/t/value`;
    const send = async (url: string, json: unknown) => {
      const headers = { 'content-type': 'application/json' };
      const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(json) });
      return { status: reply.status, text: await reply.text() };
    };
    const publish = async (protocolVersion: 4 | 5): Promise<unknown> => {
      const client = mqtt.connect(service.mqttUrl, { protocolVersion, reconnectPeriod: 0 });
      await new Promise((resolve) => client.once('connect', resolve));
      const closed = new Promise((resolve) => client.once('close', () => resolve('closed')));
      const outcome = client.publishAsync('devices/d/sensors/t/value', '5', { qos: 1 }).then(
        () => 'acknowledged',
        (error: { code?: number }) => error.code ?? closed,
      );
      const result = await Promise.race([outcome, closed]);
      await client.endAsync(true);
      return result;
    };
    assert.equal((await send(devices, { id: 'd', sensors: [{ id: 't' }] })).status, 204);
    assert.equal((await send(values, { value: 1 })).status, 204);
    let stored = 1;
    for (const round of [1, 2]) {
      fill(ballast, disk);
      // The log of the database has some room left of before.
      let reply = await send(values, { value: 'x'.repeat(30_000) });
      for (; reply.status === 204; stored += 1) {
        assert.ok(stored < 2_000, 'the disk is not full');
        reply = await send(values, { value: 'x'.repeat(30_000) });
      }
      assert.equal(reply.status, 507, reply.text);
      assert.match(reply.text, /the disk is full/);
      assert.equal((await send(devices, { id: `n${round}`, sensors: [] })).status, 507);
      assert.equal(await publish(5), 0x97);
      assert.equal(await publish(4), 'closed');
      assert.equal((await fetch(`${devices}/d`)).status, 200);
      const read = await fetch(`${values}s?limit=10000`);
      assert.equal(((await read.json()) as unknown[]).length, stored);
      rmSync(ballast);
      assert.equal((await send(values, { value: 2 })).status, 204);
      assert.equal(await publish(5), 'acknowledged');
      stored += 2;
    }
  },
);
