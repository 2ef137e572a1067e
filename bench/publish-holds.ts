// How long the main thread is held by long pushes over MQTT and HTTP, with and without subscribers:
// node bench/publish-holds.ts [a part of a name]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { startMetered } from './metered-service.ts';

const mebibyte = 1_048_576;
const [, , part = ''] = process.argv;
const directory = mkdtempSync(join(tmpdir(), 'kipimo-publishes-'));
const topic = 'devices/d/sensors/s/values';

const repeated = (element: string, bytes: number): string =>
  `[${`${element},`.repeat(Math.floor(bytes / (element.length + 1)) - 1)}${element}]`;

function timed(bytes: number): string {
  const elements: string[] = [];
  for (let length = 0; length < bytes - 60; length += (elements.at(-1)?.length ?? 0) + 1) {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + 1_000 * elements.length).toISOString();
    elements.push(`{"timestamp":"${timestamp}","value":${elements.length}}`);
  }
  return `[${elements.join()}]`;
}

const long = 8 * mebibyte - 200;
const payloads: Readonly<Record<string, () => string>> = {
  numbers: () => repeated('{"value":1}', long),
  timed: () => timed(long),
  texts: () => repeated('{"value":"x"}', long),
  digits: () => repeated('{"value":12345678901234567890}', long),
  'some bad': () => `${repeated('{"value":1}', long - 20).slice(0, -1)},{"v":1}]`,
  // In an order that has to be mended before a rule looks at them.
  backwards: () => JSON.stringify((JSON.parse(timed(long)) as unknown[]).reverse()),
  'not ended': () => repeated('{"value":1}', long).slice(0, -1),
  plain: () => repeated('1', long),
  'one text': () => JSON.stringify('x'.repeat(long)),
  'keys of 128 KiB': () =>
    `{${Array.from({ length: 9_000 }, (_, n) => `"k${n}":12345`).join()}}`.slice(0, 131_000),
  'broken 128 KiB': () => repeated('{"value":1}', 131_000).slice(0, -1),
  '128 KiB': () => repeated('{"value":1}', 131_000),
};

async function main(): Promise<void> {
  await using service = await startMetered(directory);
  const { holds } = service;
  const call = (method: string, path: string, body: string, type = 'application/json') =>
    fetch(`${service.url}/api/v2${path}`, {
      ...{ method, body, headers: { 'content-type': type } },
    });
  const made = await call('POST', '/devices', '{"id":"d","sensors":[{"id":"s"}]}');
  if (!made.ok) throw new Error(await made.text());
  const open = () => connectAsync(service.mqttUrl, { protocolVersion: 5, reconnectPeriod: 0 });
  const measure = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    await holds();
    const startedAt = performance.now();
    const answer = await work();
    const ms = performance.now() - startedAt;
    await wait(300);
    const { max, workedMax, workedP999 } = await holds();
    const told = [workedMax, workedP999, max, ms].map((one) => one.toFixed(0).padStart(6));
    console.log(`${told.join(' ')}  ${what}: ${String(answer)}`);
  };
  const publish = async (payload: string, qos: 0 | 1 | 2): Promise<string> => {
    const publisher = await open();
    try {
      const answer = await publisher.publishAsync(topic, payload, { qos });
      return `${(answer as { reasonCode?: number } | undefined)?.reasonCode ?? 'acknowledged'}`;
    } catch (error) {
      return String((error as { code?: number }).code ?? error);
    } finally {
      await publisher.endAsync();
    }
  };
  console.log('worked  p99.9   held   took  ms');
  const rounds: readonly (readonly [string, () => Promise<() => Promise<unknown>>])[] = [
    ['nobody subscribed', async () => async () => undefined],
    ...(['value', 'values'] as const).map(
      (word) =>
        [
          `subscribed to ${word}`,
          async () => {
            const clients = await Promise.all(Array.from({ length: 4 }, open));
            for (const client of clients) {
              await client.subscribeAsync(`devices/+/sensors/+/${word}`, { qos: 1 });
            }
            return () => Promise.all(clients.map((client) => client.endAsync()));
          },
        ] as const,
    ),
    [
      'with a rule',
      async () => {
        const login = JSON.stringify({ username: 'fresh', password: 'a fresh password' });
        await call('POST', '/users', login);
        const token = await (await call('POST', '/auth/token', login)).text();
        const rule = {
          description: 'r',
          condition: { devices: ['d'], sensors: ['s'], expression: 's > 1e9' },
          action: { channels: ['sms'], message: 'm', usernames: ['fresh'] },
        };
        const filed = await fetch(`${service.url}/api/v2/notifications`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(rule),
        });
        if (!filed.ok) throw new Error(await filed.text());
        return async () => undefined;
      },
    ],
  ];
  for (const [round, begin] of rounds) {
    const end = await begin();
    for (const [name, make] of Object.entries(payloads)) {
      const payload = make();
      if (!`${name}, ${round}`.includes(part)) continue;
      await measure(`MQTT ${name}, ${round}`, () => publish(payload, 1));
      await measure(`HTTP ${name}, ${round}`, async () => {
        const answer = await call('POST', '/devices/d/sensors/s/values', payload);
        return answer.status;
      });
    }
    await end();
  }
}

try {
  await main();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
