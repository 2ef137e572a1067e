/** Lets unmodified clients of other makers push, and looks at what is stored: a table of them. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf } from '../test/compatible/line-endpoint.ts';
import { startService } from '../test/service.ts';

/** A client: what it is installed from, and a program that pushes 21.5 to its sensor. */
interface Client {
  readonly name: string;
  /** The exact version of npm. */
  readonly packages?: readonly string[];
  /** Debian's; without it the client is left out. */
  readonly tool?: string;
  /** A module of JavaScript, or with `tool` a script of the shell. */
  readonly program: string;
  /** Where what it pushed is; the device is named after the client's place in the list. */
  readonly sensor: string;
}

const mqtt = (packages: readonly string[], name: string): Client => ({
  ...{ name, packages, sensor: 'v' },
  program: `import mqtt from 'mqtt';
    const { MQTT, KEY, DEVICE } = process.env;
    const client = await mqtt.connect(MQTT, { username: 'ama', password: KEY });
    client.publish('devices/' + DEVICE + '/sensors/v/value', '21.5', { qos: 1 }, (error) => {
      if (error) throw error;
      client.end();
    });`,
});
const push = 'process.env.URL + "/api/v2/devices/" + process.env.DEVICE + "/sensors/v/value"';
const bearer = '{ authorization: "Bearer " + process.env.KEY }';
const post = '"$URL/api/v2/devices/$DEVICE/sensors/v/value"';

const clients: readonly Client[] = [
  mqtt(['mqtt@4.3.8'], 'mqtt.js 4'),
  mqtt(['mqtt@5.16.0'], 'mqtt.js 5'),
  {
    ...{ name: 'influx 5', packages: ['influx@5.12.0'], sensor: 'v' },
    program: `import { InfluxDB } from 'influx';
      const { hostname: host, port } = new URL(process.env.URL);
      const influx = new InfluxDB({
        host, port: Number(port), database: 'farm', username: 'ama', password: process.env.KEY });
      await influx.createDatabase('farm');
      const names = await influx.getDatabaseNames();
      if (!names.includes('kipimo')) throw new Error(names.join());
      const [pong] = await influx.ping(5000);
      if (!pong.online) throw new Error('no pong');
      const tags = { device_id: process.env.DEVICE };
      await influx.writePoints([{ measurement: 'm', tags, fields: { v: 21.5 } }]);`,
  },
  {
    name: 'influxdb-client 1.35',
    ...{ packages: ['@influxdata/influxdb-client@1.35.0'], sensor: 'v' },
    program: `import { InfluxDB, Point } from '@influxdata/influxdb-client';
      const { URL: url, KEY: token, DEVICE } = process.env;
      const api = new InfluxDB({ url, token }).getWriteApi('any', 'any', 'ms');
      api.writePoint(new Point('m').tag('device_id', DEVICE)
        .floatField('v', 21.5).stringField('text', 'a\\nb').timestamp(new Date()));
      await api.close();`,
  },
  {
    ...{ name: 'thingspeakclient', packages: ['thingspeakclient@0.4.0'], sensor: 'field1' },
    program: `import ThingSpeakClient from 'thingspeakclient';
      const client = new ThingSpeakClient({ server: process.env.URL, useTimeoutMode: false });
      client.attachChannel(1, { writeKey: process.env.KEY }, (error) => {
        if (error) throw error;
        client.updateChannel(1, { field1: 21.5 }, (failure, reply) => {
          if (failure || !(Number(reply) > 0)) throw failure ?? new Error(String(reply));
        });
      });`,
  },
  {
    ...{ name: 'axios 1', packages: ['axios@1.21.1'], sensor: 'v' },
    program: `import axios from 'axios';
      await axios.post(${push}, { value: 21.5 }, { headers: ${bearer} });`,
  },
  {
    ...{ name: 'ky 2', packages: ['ky@2.1.0'], sensor: 'v' },
    program: `import ky from 'ky';
      await ky.post(${push}, { json: { value: 21.5 }, headers: ${bearer} });`,
  },
  {
    ...{ name: 'undici 8', packages: ['undici@8.13.1'], sensor: 'v' },
    program: `import { request } from 'undici';
      const { statusCode } = await request(${push}, { method: 'POST', body: '21.5',
        headers: { 'content-type': 'application/json', ...${bearer} } });
      if (statusCode !== 204) throw new Error(String(statusCode));`,
  },
  {
    ...{ name: 'curl, Basic with the key', tool: 'curl', sensor: 'v' },
    program: `curl -sSf -u "any:$KEY" -H 'content-type: application/json' -d 21.5 ${post}`,
  },
  {
    ...{ name: 'wget', tool: 'wget', sensor: 'v' },
    program: `wget -qO- --header "Authorization: Bearer $KEY" \
      --header 'Content-Type: application/json' --post-data 21.5 ${post}`,
  },
  {
    ...{ name: 'busybox wget', tool: 'busybox', sensor: 'field1' },
    program: 'busybox wget -qO- "$URL/update?api_key=$KEY&field1=21.5"',
  },
  {
    ...{ name: 'mosquitto_pub', tool: 'mosquitto_pub', sensor: 'v' },
    program: `mosquitto_pub -h "$HOST" -p "$MQTT_PORT" -u ama -P "$KEY" -q 1 \
      -t "devices/$DEVICE/sensors/v/value" -m 21.5`,
  },
  {
    ...{ name: 'influx of InfluxDB 1', tool: 'influx', sensor: 'v' },
    program: `influx -host "$HOST" -port "$PORT" -username ama -password "$KEY" -database kipimo \
      -execute "INSERT m,device_id=$DEVICE v=21.5"`,
  },
];

const folder = mkdtempSync(join(tmpdir(), 'kipimo-clients-'));
const service = await startService();
let failed = 0;
try {
  for (const [place, client] of clients.entries()) {
    const found = await tryClient(client, place).catch((reason: unknown) => `failed: ${reason}`);
    if (found.startsWith('failed')) failed += 1;
    process.stdout.write(`${client.name.padEnd(28)} ${found}\n`);
  }
} finally {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

/** Says what was read back of what the client pushed. */
async function tryClient(client: Client, place: number): Promise<string> {
  const { tool, packages = [], program, sensor } = client;
  if (tool !== undefined && spawnSync('which', [tool]).status !== 0) return 'not installed here';
  const own = join(folder, String(place));
  if (packages.length > 0) {
    const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', own, ...packages];
    // Whoever started this by npm may have told it to stay offline.
    const env = { ...process.env, npm_config_offline: 'false' };
    const { status } = spawnSync('npm', words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) return 'failed: npm could not install it';
  }
  const device = `client-${place}`;
  const json = { id: device, visibility: 'private', sensors: [{ id: 'v' }] };
  const made = await service.as('ama')({ method: 'POST', path: '/devices', json });
  if (made.status !== 204) throw new Error(made.text);
  const [http, mqtt] = [new URL(service.url), new URL(service.mqttUrl)];
  const environment = {
    ...{ URL: http.origin, HOST: http.hostname, PORT: http.port, MQTT: service.mqttUrl },
    ...{ MQTT_PORT: mqtt.port, DEVICE: device },
    KEY: await keyOf(service, 'ama', { devices: [device] }),
  };
  const words = ['--input-type=module', '-e', program];
  const child = spawn(
    tool === undefined ? process.execPath : 'sh',
    tool === undefined ? words : ['-c', program],
    {
      env: { ...process.env, ...environment },
      cwd: tool === undefined ? own : folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 60_000,
    },
  );
  const [status] = await once(child, 'exit');
  if (status !== 0) return `failed: it ended with ${status}`;
  const path = `/devices/${device}/sensors/${sensor}/values`;
  const reply = await service.as('ama')({ path });
  const values = reply.status === 200 ? (reply.json as { readonly value: unknown }[]) : [];
  const found = values.map(({ value }) => JSON.stringify(value)).join();
  return found === '21.5' ? 'pushed and read back' : `failed: ${found || 'nothing'} is stored`;
}
