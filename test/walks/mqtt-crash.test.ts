import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durable } from '../engine.ts';
import { startProcess } from '../service-process.ts';
import {
  createPublisher,
  createSubscriber,
  deviceId,
  type Publisher,
  type Subscriber,
} from './mqtt-load.ts';

/** More of them with KIPIMO_TEST_MQTT_KILLS=20. */
const rounds = Number(process.env['KIPIMO_TEST_MQTT_KILLS'] ?? 4);
const patienceMs = 60_000;

/** How many exchanges a round lets through: few enough for what waits for a session. */
const exchangesOf = (round: number): number => 1 + ((round * 97 + 40) % 211);

async function createDevice(url: string, publishers: readonly Publisher[]): Promise<void> {
  const sensors = publishers.map(({ sensorId }) => ({ id: sensorId }));
  const { status } = await fetch(`${url}/api/v2/devices`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: deviceId, sensors }),
  });
  assert.equal(status, 204);
}

/** How often each value is stored. */
async function storedOf(url: string, { sensorId }: Publisher): Promise<Map<string, number>> {
  const path = `${url}/api/v2/devices/${deviceId}/sensors/${sensorId}/values?limit=1000000`;
  const times = new Map<string, number>();
  for (const { value } of (await (await fetch(path)).json()) as { value: string }[]) {
    times.set(value, (times.get(value) ?? 0) + 1);
  }
  return times;
}

async function assertStored(url: string, publisher: Publisher, mayBeTwice: boolean): Promise<void> {
  const { acknowledged, repeated } = publisher;
  const stored = await storedOf(url, publisher);
  for (const mark of acknowledged) {
    const times = stored.get(mark) ?? 0;
    const isRight = times === 1 || (times === 2 && mayBeTwice && repeated.has(mark));
    assert.ok(isRight, `${mark} is stored ${times} times`);
  }
}

function assertGot({ got, qos, name }: Subscriber, publishers: readonly Publisher[]): void {
  const repeated = publishers.reduce((all, one) => all.union(one.repeated), new Set<string>());
  if (qos === 1) return;
  // What the publisher had to send twice may be two messages; all else is one.
  const twice = [...got].filter(([mark, times]) => times > 1 && !repeated.has(mark));
  assert.deepEqual(twice, [], name);
}

durable(`${rounds} times kill -9: what MQTT acknowledged is stored and delivered`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-mqtt-crash-'));
  const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
  const dated = ([1, 1, 2, 2] as const).map((qos, index) =>
    createPublisher(index, { qos, isDated: true }),
  );
  const undated = [4, 5].map((index) => createPublisher(index, { qos: 2, isDated: false }));
  const publishers = [...dated, ...undated];
  const online = ([1, 2] as const).map((qos, index) => createSubscriber(index, qos));
  const away = ([1, 2] as const).map((qos, index) => createSubscriber(index + 3, qos));
  const acknowledged = () =>
    publishers.reduce((all, one) => all.union(one.acknowledged), new Set<string>());
  try {
    for (let round = 0; round <= rounds; round += 1) {
      await using service = await startProcess({ directory, environment });
      const { url } = service;
      if (round === 0) await createDevice(url, publishers);
      for (const one of publishers) await one.settle(url);
      for (const one of dated) await assertStored(url, one, false);
      for (const one of undated) await assertStored(url, one, true);
      for (const one of away) {
        const peer = await one.connect(url);
        await one.until(acknowledged(), patienceMs);
        await peer.end();
      }
      for (const one of online) {
        await one.connect(url);
        await one.until(acknowledged(), patienceMs);
      }
      for (const one of [...away, ...online]) assertGot(one, publishers);
      if (round === rounds) break;
      let exchanges = 0;
      const onExchange = () => {
        exchanges += 1;
        if (exchanges === exchangesOf(round)) service.kill('SIGKILL');
      };
      await Promise.all(publishers.map((one) => one.run(url, onExchange)));
      assert.equal((await service.exited).signal, 'SIGKILL');
    }
    assert.ok(acknowledged().size >= rounds, 'nothing was ever acknowledged');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
