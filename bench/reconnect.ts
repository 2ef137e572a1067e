import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { benchLogin, startBenchService } from '../tools/bench/bench-service.ts';
import type { ChildService } from '../tools/bench/child-service.ts';
import { freePort } from '../tools/bench/free-port.ts';
import { type MqttConnection, openMqttConnection } from '../tools/bench/mqtt-connection.ts';
import { temporaryDirectory } from '../tools/bench/temporary-directory.ts';

// MQTT clients, each with an access key, whose service starts anew: how long until all are back.
// node bench/reconnect.ts [--clients 19000] [--keys 1000]

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '19000' },
    keys: { type: 'string', default: '1000' },
  },
});
const clients = Number(values.clients);
/** Clients try again after up to so long, each at a moment of its own. */
const patienceMs = 2_000;
const triesAtOnce = 500;
/** Half come through it, where one process may open few files: all guests have half of them. */
const proxy = '127.0.0.2';
const say = (line: string): void => void process.stdout.write(`${line}\n`);

using directory = temporaryDirectory();
const mqttPort = await freePort();
const start = (): Promise<ChildService> =>
  startBenchService(directory.path, {
    mqttPort,
    environment: { KIPIMO_TRUSTED_PROXIES: proxy },
  });

async function createKeys(url: string): Promise<readonly string[]> {
  const post = async (path: string, body: object, token?: string) => {
    const response = await fetch(`${url}/api/v2${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.text();
  };
  const token = await post('/auth/token', benchLogin);
  const keys: string[] = [];
  for (let at = 0; at < Number(values.keys); at += 1) {
    const { key } = JSON.parse(await post('/auth/keys', { name: `client ${at}` }, token));
    keys.push(String(key));
  }
  return keys;
}

const residentBytes = ({ pid }: ChildService): number =>
  1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Lets all in, and answers how often one was not let in at once. */
async function openAll(keys: readonly string[], opened: Set<MqttConnection>): Promise<number> {
  const buffer = Buffer.allocUnsafe(65_536);
  let next = 0;
  let failures = 0;
  const openNext = async (): Promise<void> => {
    for (let at = next++; at < clients; at = next++) {
      let connection: MqttConnection | undefined;
      while (connection === undefined) {
        try {
          connection = await openMqttConnection({
            port: mqttPort,
            login: {
              clientId: `client-${at}`,
              username: benchLogin.username,
              password: keys[at % keys.length] ?? '',
            },
            ...{ buffer, onFailure: () => undefined },
            localAddress: at % 2 === 0 ? proxy : '127.0.0.3',
          });
        } catch {
          failures += 1;
          await wait(Math.random() * patienceMs);
        }
      }
      opened.add(connection);
    }
  };
  await Promise.all(Array.from({ length: triesAtOnce }, openNext));
  return failures;
}

const cpuSeconds = ({ pid }: ChildService): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

const opened = new Set<MqttConnection>();
let keys: readonly string[];
{
  await using service = await start();
  keys = await createKeys(service.url);
  const before = residentBytes(service);
  const startedAt = performance.now();
  await openAll(keys, opened);
  say(`${clients} clients with ${keys.length} keys in ${seconds(startedAt)} s`);
  await wait(2_000);
  say(`${((residentBytes(service) - before) / clients / 1_024).toFixed(1)} KiB for each`);
}
for (const connection of opened) connection.close();
opened.clear();
const startedAt = performance.now();
await using again = await start();
const readyAt = performance.now();
const failures = await openAll(keys, opened);
say(
  `started anew in ${((readyAt - startedAt) / 1_000).toFixed(1)} s, all back after ` +
    `${seconds(readyAt)} s more; ${failures} tries failed; ` +
    `the service took ${cpuSeconds(again).toFixed(1)} s of processors`,
);
for (const connection of opened) connection.close();

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1);
}
