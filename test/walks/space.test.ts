import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { startService } from '../service.ts';

/** So many that most of what was pushed last waits in memory. */
const sensorIds = Array.from({ length: 100 }, (_, n) => `TC${n}`);
const pointsTotal = 600_000;
const pointsPerRequest = 5_000;
const bytesPerPointMax = 1.2;
const restMsMax = 60_000;

const bytesIn = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

/** Lines of a reading a minute, each 0 to 0.05 from the one before, in steps of 0.01. */
function* linesOf(deviceId: string): Generator<string> {
  const start = Date.parse('2025-01-01T00:00:00Z');
  const values = sensorIds.map(() => 2_000);
  for (let n = 0; n < pointsTotal; n += 1) {
    const at = n % sensorIds.length;
    const value = (values[at] ?? 0) + ((n * 7_919) % 11) - 5;
    values[at] = value;
    const minutes = Math.floor(n / sensorIds.length);
    yield JSON.stringify({
      device_id: deviceId,
      sensor_id: sensorIds[at],
      value: value / 100,
      timestamp: new Date(start + minutes * 60_000).toISOString(),
    });
  }
}

embedded(
  'soon after a load the data directory holds little but the datapoints',
  async (context) => {
    const directory = temporaryDirectory(context);
    await using service = await startService({ directory });
    const sensors = sensorIds.map((id) => ({ id }));
    const made = { method: 'POST', path: '/devices', json: { id: 'field', sensors } } as const;
    assert.equal((await service.call(made)).status, 204);
    const emptyBytes = bytesIn(directory);

    const lines = linesOf('field');
    for (let sent = 0; sent < pointsTotal; sent += pointsPerRequest) {
      const body = Array.from({ length: pointsPerRequest }, () => lines.next().value).join('\n');
      const headers = { 'content-type': 'application/x-ndjson' };
      const reply = await service.call({ method: 'POST', path: '/sensors_data', body, headers });
      assert.equal(reply.status, 200, reply.text);
    }
    const loadedBytes = bytesIn(directory);
    const deadline = performance.now() + restMsMax;
    const bytesPerPoint = () => (bytesIn(directory) - emptyBytes) / pointsTotal;
    while (bytesPerPoint() > bytesPerPointMax && performance.now() < deadline) await wait(200);
    assert.ok(bytesPerPoint() <= bytesPerPointMax, `${bytesPerPoint()} bytes a point`);
    assert.ok(loadedBytes > 2 * bytesIn(directory), 'there was nothing to give back');
  },
);
