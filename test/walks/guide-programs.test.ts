// In a process of its own: it starts proxies and programs of other makers.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import mqtt from 'mqtt';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { freePort } from '../postgres-server.ts';
import { type Service, startService } from '../service.ts';
import { assertDone } from '../v2/refusal.ts';
import { fences, isThere } from './guide-fences.ts';

const directory = temporaryDirectory({ after });
const run = promisify(execFile);
const needs = (program: string, ...words: readonly string[]) => ({
  skip: isThere(program, ...words) ? false : `needs ${program}`,
});

let service: Service;
let key = '';
before(async () => {
  service = await startService({
    environment: { KIPIMO_TRUSTED_PROXIES: '127.0.0.1', KIPIMO_PUBLIC_URL: 'https://localhost' },
  });
  const ama = service.as('ama');
  const sensors = (...ids: readonly string[]) => ids.map((id) => ({ id }));
  for (const json of [
    { id: 'field-7', visibility: 'private', sensors: sensors('TC1', 'SM1', 'fahrenheit') },
    { id: 'room', visibility: 'private', sensors: sensors('temperature', 'humidity') },
  ]) {
    assertDone(await ama({ method: 'POST', path: '/devices', json }));
  }
  for (const [sensor, shift] of [
    ['TC1', 0],
    ['SM1', 20],
  ] as const) {
    const json = [20.5, 21.5, 22.5].map((value, hour) => ({
      value: value + shift,
      timestamp: `2026-03-01T0${hour}:00:00Z`,
    }));
    const path = `/devices/field-7/sensors/${sensor}/values`;
    assertDone(await ama({ method: 'POST', path, json }));
  }
  const made = await ama({ method: 'POST', path: '/auth/keys', json: { name: 'guides' } });
  key = (made.json as { readonly key: string }).key;
});
after(() => service[Symbol.asyncDispose]());

/** The lines of a guide, with the address and the key of this run. */
const own = (lines: string): string =>
  lines
    .replaceAll(/http:\/\/(localhost|192\.168\.1\.10):8080/g, service.url)
    .replaceAll('kpk_…', key);

async function valuesOf(path: string): Promise<readonly unknown[]> {
  const { json } = await service.as('ama')({ path: `/devices/${path}/values?limit=100` });
  return (json as readonly { readonly value: unknown }[]).map(({ value }) => value);
}

test('the program with pandas reads, sums up and writes back', {
  ...needs('python3', '-c', 'import pandas'),
}, async () => {
  const program = own(fences('pandas', 'python').join('\n'));
  const { stdout } = await run('python3', ['-c', program]);
  assert.match(stdout, /20\.5 +21\.5 +22\.5/);
  assert.match(stdout, /SM1 +TC1/);
  assert.match(stdout, /\n204\n$/);
  assert.equal((await valuesOf('field-7/sensors/fahrenheit')).length, 3);
});

test('the program in R reads values and days', { ...needs('Rscript') }, async () => {
  const file = join(directory, 'program.R');
  writeFileSync(file, `pdf(NULL)\n${own(fences('r', 'r').join('\n'))}`);
  const { stdout } = await run('Rscript', [file]);
  assert.match(stdout, /Median[^\n]*\n +20\.5 +21\.0 +21\.5 /);
  // The day of Nairobi, which begins at 21:00 UTC.
  assert.match(stdout, /2026-03-01 +20\.5 +21\.5 +22\.5/);
});

test('what Excel and Grafana ask for is a table of times and numbers', async () => {
  const range = { '__from:date:iso': '2026-03-01T00:00:00Z', '__to:date:iso': '2026-03-02' };
  for (const guide of ['excel', 'grafana']) {
    for (const fence of fences(guide, '')) {
      const url = Object.entries(range).reduce(
        (text, [name, value]) => text.replace(`\${${name}}`, value),
        own(fence).trim(),
      );
      const reply = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      const [head = '', ...rows] = (await reply.text()).trim().split(/\r?\n/);
      assert.ok(reply.ok && head.includes('timestamp') && head.includes('value'), head);
      assert.equal(rows.length, 3, guide);
    }
  }
});

test('the rules of Tasmota send what the service stores', async () => {
  const [web = '', publishing = ''] = fences('tasmota', '').map(own);
  const wanted = /WebQuery (\S+) POST \[([^\]]*)\] (\S+)/g;
  const queries = [...web.matchAll(wanted)];
  assert.equal(queries.length, 2);
  for (const [, url = '', headers = '', body = ''] of queries) {
    const pairs = headers.split('|').map((one) => one.split(/:(.*)/s, 2) as [string, string]);
    const value = body.replace('%value%', '21.5');
    const reply = await fetch(url, { method: 'POST', headers: pairs, body: value });
    assert.equal(reply.status, 204);
  }
  const [, rule = ''] = /^Rule1 (ON .*)$/m.exec(web) ?? [];
  assert.ok(rule.length <= 511, `a rule of ${rule.length} characters`);
  const [, user, password] = /MqttUser (\S+); MqttPassword (\S+)/.exec(publishing) ?? [];
  const [, topic = '', payload = ''] = /Publish (\S+) (\S+)/.exec(publishing) ?? [];
  const plug = await mqtt.connectAsync(service.mqttUrl, {
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
  });
  await plug.publishAsync(topic, payload.replace('%value%', '22'), { qos: 1 });
  await plug.endAsync();
  assert.deepEqual(await valuesOf('room/sensors/temperature'), [21.5, 22]);
  assert.deepEqual(await valuesOf('room/sensors/humidity'), [21.5]);
});

/** A certificate for localhost. */
async function makeCertificate() {
  const [certificate, secret] = ['cert.pem', 'key.pem'].map((name) => join(directory, name));
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-out', certificate ?? '', '-keyout', secret ?? ''];
  await run('openssl', [...words, ...subject, ...files]);
  return { certificate: certificate ?? '', secret: secret ?? '' };
}

/** Runs a proxy until it answers; says over HTTPS and by a WebSocket what boards and people do. */
async function useProxy(words: readonly [string, ...string[]], port: number): Promise<void> {
  const [program, ...others] = words;
  const environment = { ...process.env, HOME: directory, XDG_DATA_HOME: directory };
  const proxy = spawn(program, others, { stdio: 'ignore', env: environment });
  const ended = once(proxy, 'close');
  const agent = new Agent({ rejectUnauthorized: false });
  const ask = (path: string, value?: number) =>
    new Promise<number>((resolve, reject) => {
      const body = value === undefined ? undefined : JSON.stringify({ value });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const options = { agent, host: '127.0.0.1', port, path, servername: 'localhost' };
      const method = body === undefined ? 'GET' : 'POST';
      const sent = request({ ...options, method, headers: { ...headers, host: 'localhost' } });
      sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
      sent.on('error', reject);
      sent.end(body);
    });
  try {
    for (const end = performance.now() + 20_000; ; ) {
      const status = await ask('/readyz').catch(() => 0);
      if (status === 200) break;
      assert.ok(
        performance.now() < end && proxy.exitCode === null,
        `${program}: ${status}, ${proxy.exitCode}`,
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(await ask('/api/v2/devices/room/sensors/humidity/value', 55), 204);
    const board = await mqtt.connectAsync(`wss://localhost:${port}/websocket`, {
      ...{ username: 'key', password: key, rejectUnauthorized: false, connectTimeout: 10_000 },
    });
    await board.publishAsync('devices/room/sensors/humidity/value', '56', { qos: 1 });
    await board.endAsync();
    assert.deepEqual((await valuesOf('room/sensors/humidity')).slice(-2), [55, 56]);
  } finally {
    proxy.kill('SIGTERM');
    await ended;
    agent.destroy();
  }
}

test('behind nginx, as its guide sets it up, values and WebSockets arrive', {
  ...needs('nginx', '-v'),
}, async () => {
  const { certificate, secret } = await makeCertificate();
  const port = await freePort();
  const host = new URL(service.url).host;
  const http = (fences('nginx', 'nginx')[0] ?? '')
    .replace('127.0.0.1:8080', host)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${secret};`)
    .replace('sensors.example.org', 'localhost');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(directory, name)};`)
    .join('\n');
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off;\npid ${join(directory, 'nginx.pid')};\nerror_log stderr;\nevents {}\n` +
      `http {\naccess_log off;\n${paths}\n${http}}\n`,
  );
  mkdirSync(join(directory, 'logs'), { recursive: true });
  await useProxy(['nginx', '-p', directory, '-c', file], port);
});

test('behind Caddy, as its guide sets it up, values and WebSockets arrive', {
  ...needs('caddy', 'version'),
}, async () => {
  const { certificate, secret } = await makeCertificate();
  const port = await freePort();
  const host = new URL(service.url).host;
  const site = (fences('caddy', 'caddyfile')[0] ?? '')
    .replace('127.0.0.1:8080', host)
    .replace(
      'sensors.example.org {',
      `https://localhost:${port} {\n\ttls ${certificate} ${secret}`,
    );
  const file = join(directory, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  await useProxy(['caddy', 'run', '--adapter', 'caddyfile', '--config', file], port);
});
