import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { payerAt } from '../../src/domain/budgets/budget.ts';
import { sessionKey } from '../../src/domain/messaging/message.ts';
import type { SessionChange } from '../../src/domain/messaging/session-store.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { startService } from '../service.ts';
import { type ClientOptions, connect, makeDevice } from './mqtt-clients.ts';

const key = sessionKey('guest', 'sensor');
const payer = payerAt('127.0.0.1');
const topic = 'devices/d/sensors/t/value';
const message = {
  topic,
  payload: Buffer.from('{"value":"waited"}'),
  qos: 1,
  retain: false,
} as const;

/** As a version before 0.2 kept it when its process was killed. */
const former: readonly SessionChange[] = [
  {
    kind: 'opened',
    session: { key, identity: 'guest', clientId: 'sensor', payer, expirySeconds: 3_600 },
  },
  {
    kind: 'queued',
    message,
    entries: [{ key, packetId: 1, qos: 1, retain: false, identifiers: [] }],
  },
  {
    ...{ kind: 'will_kept', key, delayMs: 1_500, turn: 5 },
    message: { ...message, payload: Buffer.from('{"value":"will"}'), publisher: key, payer },
  },
];

/** Keeps it beside what the service knows: the next start finds it. */
const withFormer = (storage: Storage): Storage => ({
  ...storage,
  mqttSessions: {
    ...storage.mqttSessions,
    async load() {
      const stored = await storage.mqttSessions.load();
      await storage.mqttSessions.apply(former);
      return stored;
    },
  },
});

test('a guest comes back after an upgrade to what waited, and cancels its will', {
  timeout: 30_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-former-'));
  try {
    {
      await using service = await startService({ directory, wrapStorage: withFormer });
      await makeDevice(service, 'guest', 'd');
    }
    await using service = await startService({ directory });
    const mine: ClientOptions = { clean: false, properties: { sessionExpiryInterval: 3_600 } };
    await using guest = await connect(service, { ...mine, clientId: 'sensor' });
    const [waited] = await guest.got(1);
    assert.equal(waited?.payload, '{"value":"waited"}');
    await using watch = await connect(service);
    await watch.subscribe(topic);
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    assert.deepEqual(watch.texts, []);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
