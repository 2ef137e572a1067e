// In a process of its own: it starts a broker of Mosquitto, which waits before it bridges.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import mqtt, { type MqttClient } from 'mqtt';
import { makeDevice } from '../mqtt/mqtt-clients.ts';
import { freePort } from '../postgres-server.ts';
import { type Service, startService } from '../service.ts';
import { repositoryRoot } from '../source-files.ts';

const isThere = spawnSync('mosquitto', ['-h']).error === undefined;
const skip = isThere || process.env['CI'] === 'true' ? false : 'install mosquitto to run this';
const sensor = 'devices/home/sensors/temperature/value';
const level = 'devices/well/sensors/level/value';
const pump = 'devices/home/actuators/pump/value';

let directory: string;
let service: Service;
let broker: ChildProcess;
let home: MqttClient;
let log = '';
/** Every message at the broker of the home, its own included. */
const heard: string[] = [];

/** The lines of the guide, with the addresses and the key of this run. */
function configuration(port: number, key: string): string {
  const guide = readFileSync(join(repositoryRoot, 'docs/guides/home-assistant.md'), 'utf8');
  const lines = / *```conf\n([\s\S]*?)```/.exec(guide)?.[1]?.replace(/^ +/gm, '');
  assert.ok(lines !== undefined, 'the guide has the lines of a bridge');
  const bridge = lines
    .replace(/^address .*$/m, `address 127.0.0.1:${new URL(service.mqttUrl).port}`)
    .replace('kpk_…', key);
  assert.ok(bridge.includes(key) && !bridge.includes('…'));
  return `listener ${port} 127.0.0.1\nallow_anonymous true\nlog_type all\n${bridge}`;
}

before(async () => {
  if (!isThere) return;
  service = await startService();
  const visibility = 'private';
  const sensors = ['temperature'];
  await makeDevice(service, 'ana', 'home', { sensors, actuators: ['pump'], visibility });
  await makeDevice(service, 'ana', 'well', { sensors: ['level'], visibility });
  const json = { name: 'Home Assistant', devices: ['home', 'well'] };
  const made = await service.as('ana')({ method: 'POST', path: '/auth/keys', json });
  directory = mkdtempSync(join(tmpdir(), 'kipimo-bridge-'));
  const port = await freePort();
  const file = join(directory, 'mosquitto.conf');
  writeFileSync(file, configuration(port, (made.json as { key: string }).key));
  broker = spawn('mosquitto', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  broker.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  home = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 50 });
  home.on('message', (topic, payload) => heard.push(`${topic} ${payload}`));
  await home.subscribeAsync('devices/#');
});

after(async () => {
  if (!isThere) return;
  await home.endAsync();
  broker.kill('SIGKILL');
  await once(broker, 'close');
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Waits for something that comes by the bridge. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await holds()); ) {
    assert.ok(performance.now() < end, `${heard.join('\n')}\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function stored(path: string): Promise<readonly unknown[]> {
  const { json } = await service.as('ana')({ path: `${path}?limit=100` });
  return (json as readonly { value: unknown }[]).map(({ value }) => value);
}

test('the broker of Mosquitto is there', { skip }, () => {
  assert.ok(isThere, 'CI needs mosquitto');
});

test('a bridge with its defaults is let in at its first CONNECT', { skip }, async () => {
  await until(() => /Received CONNACK on connection local/.test(log));
  assert.equal(log.match(/sending CONNECT$/gm)?.length, 1, log);
  assert.doesNotMatch(log, /refused|protocol version/i);
  await until(() => (log.match(/Received SUBACK from local/g) ?? []).length >= 2);
});

test('values of the home are stored once and do not come back', { skip }, async () => {
  for (const value of ['20.5', '21.5']) await home.publishAsync(sensor, value, { qos: 1 });
  const path = '/devices/home/sensors/temperature/values';
  await until(async () => (await stored(path)).length >= 2);
  // What comes later by the same way shows that nothing is still under way.
  await service.as('ana')({ method: 'PUT', path: `/${pump}`, json: 'after' });
  await until(() => heard.includes(`${pump} "after"`));
  assert.deepEqual(await stored(path), [20.5, 21.5]);
  assert.deepEqual(heard, [`${sensor} 20.5`, `${sensor} 21.5`, `${pump} "after"`]);
});

test('either side switches the pump, and each hears of it once', { skip }, async () => {
  heard.length = 0;
  const setTo = async () =>
    (await service.as('ana')({ path: '/devices/home/actuators/pump' })).json as { value: unknown };
  await home.publishAsync(pump, 'true', { qos: 1 });
  await until(async () => (await setTo()).value === true);
  await service.as('ana')({ method: 'PUT', path: `/${pump}`, json: false });
  await until(() => heard.includes(`${pump} false`));
  await service.as('ana')({ method: 'POST', path: `/${level}`, json: { value: 7 } });
  await until(() => heard.some((text) => text.startsWith(level)));
  assert.deepEqual(heard.slice(0, 2), [`${pump} true`, `${pump} false`]);
  assert.equal(heard[2], `${level} {"value":7}`);
  assert.equal(heard.length, 3);
  assert.equal((await setTo()).value, false);
});
