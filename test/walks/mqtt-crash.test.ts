import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProcess } from '../service-process.ts';
import {
  assertStored,
  createDevice,
  createPublisher,
  createSubscriber,
  type Publisher,
  type Subscriber,
} from './mqtt-load.ts';

/** More of them with KIPIMO_TEST_MQTT_KILLS=20. */
const rounds = Number(process.env['KIPIMO_TEST_MQTT_KILLS'] ?? 4);
const patienceMs = 60_000;

/** How many exchanges a round lets through: few enough for what waits for a session. */
const exchangesOf = (round: number): number => 1 + ((round * 97 + 40) % 211);

function assertGot({ got, qos, name }: Subscriber, publishers: readonly Publisher[]): void {
  const repeated = publishers.reduce((all, one) => all.union(one.repeated), new Set<string>());
  if (qos === 1) return;
  // What the publisher had to send twice may be two messages; all else is one.
  const twice = [...got].filter(([mark, times]) => times > 1 && !repeated.has(mark));
  assert.deepEqual(twice, [], name);
}

test(`${rounds} times kill -9: what MQTT acknowledged is stored and delivered`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-mqtt-crash-'));
  const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1', KIPIMO_LOG_LEVEL: 'info' };
  const dated = ([1, 1, 2, 2] as const).map((qos, index) =>
    createPublisher(index, { qos, isDated: true }),
  );
  const undated = [4, 5, 6, 7, 8, 9, 10, 11].map((index) =>
    createPublisher(index, { qos: 2, isDated: false }),
  );
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
      for (const one of publishers) await assertStored(url, one);
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
