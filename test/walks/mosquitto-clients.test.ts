import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { makeDevice } from '../mqtt/mqtt-clients.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import {
  haveClients,
  linesOf,
  mosquittoEnter,
  mosquittoPub,
  mosquittoSub,
} from './mosquitto-program.ts';

const skip =
  haveClients || process.env['CI'] === 'true'
    ? false
    : 'MOSQUITTO CLIENTS ARE MISSING: install mosquitto-clients to run this';

let directory: string;
let certFile: string;
let service: Service;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-mosquitto-'));
  certFile = join(directory, 'cert.pem');
  const keyFile = join(directory, 'key.pem');
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const place = ['-subj', '/CN=kipimo.test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', [...words.split(' '), ...place, ...files], { stdio: 'ignore' });
  // The clients of this test, as of any, must be told whom to trust.
  setDefaultCACertificates([readFileSync(certFile, 'utf8')]);
  service = await startService({
    environment: { KIPIMO_TLS_CERT: certFile, KIPIMO_TLS_KEY: keyFile, KIPIMO_MQTTS_PORT: '0' },
  });
  await makeDevice(service, 'ana', 'hive', { sensors: ['t', 'u'] });
  await makeDevice(service, 'ana', 'vault', { visibility: 'private' });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const portOf = (url: string): string => new URL(url).port;
const tcp = () => ['-h', '127.0.0.1', '-p', portOf(service.mqttUrl)];
/** The port of HTTPS takes MQTT over TLS too. */
const tls = () => ['-h', '127.0.0.1', '-p', portOf(service.url), '--cafile', certFile];
const ana = () => ['-u', 'ana', '-P', passwordOf('ana')];
const value = 'devices/hive/sensors/t/value';
const secret = 'devices/vault/sensors/t/value';

async function lastOf(device: string): Promise<unknown> {
  const path = `/devices/${device}/sensors/t/values?lastN=1`;
  const { json } = await service.as('ana')({ path });
  return (json as readonly { value: unknown }[])[0]?.value;
}

async function publish(words: readonly string[]): Promise<void> {
  const { code, errors } = await mosquittoPub(words);
  assert.equal(code, 0, errors);
}

test('the programs of Mosquitto are there', { skip }, () => {
  assert.ok(haveClients, 'CI needs mosquitto_pub and mosquitto_sub');
});

for (const [name, door] of Object.entries({ TCP: tcp, TLS: tls })) {
  for (const version of ['mqttv31', 'mqttv311', 'mqttv5']) {
    for (const qos of ['0', '1', '2']) {
      test(`${version} over ${name}: a publish with QoS ${qos} is seen by all`, {
        skip,
      }, async () => {
        const how = [...door(), '-V', version, '-q', qos];
        const sub = await mosquittoSub(1, [...how, '-t', 'devices/hive/sensors/+/value']);
        const mark = `${name} ${version} ${qos}`;
        await publish([...how, '-t', value, '-m', JSON.stringify({ value: mark })]);
        assert.deepEqual(linesOf(await sub.ended), [JSON.stringify({ value: mark })]);
        assert.equal(await lastOf('hive'), mark);
      });
    }
  }
}

test('what is posted over HTTP reaches mosquitto_sub', { skip }, async () => {
  const sub = await mosquittoSub(2, [...tcp(), '-v', '-t', 'devices/hive/#']);
  const json = { value: 7.5, timestamp: '2026-11-20T12:00:00Z' };
  await service.as('ana')({ method: 'POST', path: `/${value}`, json });
  await service.as('ana')({ method: 'PUT', path: '/devices/hive/actuators/a/value', json: true });
  assert.deepEqual(linesOf(await sub.ended), [
    `${value} {"value":7.5,"timestamp":"2026-11-20T12:00:00.000Z"}`,
    'devices/hive/actuators/a/value true',
  ]);
});

test('private values come to their owner and to nobody else', { skip }, async () => {
  const guest = await mosquittoSub(1, [...tcp(), '-v', '-t', '#']);
  const owner = await mosquittoSub(2, [...tls(), ...ana(), '-v', '-t', '#']);
  await publish([...tcp(), '-q', '1', '-t', secret, '-m', '"from a guest"']);
  await publish([...tcp(), ...ana(), '-q', '1', '-t', secret, '-m', '"from ana"']);
  await publish([...tcp(), '-q', '1', '-t', value, '-m', '"for all"']);
  assert.deepEqual(linesOf(await guest.ended), [`${value} {"value":"for all"}`]);
  assert.deepEqual(linesOf(await owner.ended), [
    `${secret} {"value":"from ana"}`,
    `${value} {"value":"for all"}`,
  ]);
  assert.equal(await lastOf('vault'), 'from ana');
});

test('a wrong password is told, and a key is a password', { skip }, async () => {
  const wrong = ['-u', 'ana', '-P', 'wrong', '-t', secret, '-m', '1'];
  for (const version of ['mqttv311', 'mqttv5']) {
    const { code, errors } = await mosquittoPub([...tcp(), '-V', version, ...wrong]);
    assert.notEqual(code, 0);
    assert.match(errors, /not authori[sz]ed|bad user ?name/i);
  }
  const json = { name: 'gateway', devices: ['vault'] };
  const reply = await service.as('ana')({ method: 'POST', path: '/auth/keys', json });
  const { key } = reply.json as { key: string };
  await publish([...tcp(), '-u', 'any', '-P', key, '-q', '1', '-t', secret, '-m', '"by key"']);
  assert.equal(await lastOf('vault'), 'by key');
});

test('a refused publish is told to version 5 and to no older one', { skip }, async () => {
  const words = [...tcp(), '-d', '-q', '1', '-t', secret, '-m', '1'];
  const old = await mosquittoPub([...words, '-V', 'mqttv311']);
  assert.equal(old.code, 0);
  const modern = await mosquittoPub([...words, '-V', 'mqttv5']);
  assert.match(modern.output + modern.errors, /RC:135|not authori[sz]ed/i);
});

test('a retained value comes first, until it is cleared', { skip }, async () => {
  const topic = 'devices/hive/sensors/u/value';
  await publish([...tcp(), ...ana(), '-q', '1', '-r', '-t', topic, '-m', '"kept"']);
  const sub = await mosquittoSub(1, [...tcp(), '-F', '%r %t %p', '-t', topic]);
  assert.deepEqual(linesOf(await sub.ended), [`1 ${topic} {"value":"kept"}`]);
  await publish([...tcp(), ...ana(), '-q', '1', '-r', '-n', '-t', topic]);
  const late = await mosquittoSub(1, [...tcp(), '-F', '%r %p', '-t', topic]);
  await publish([...tcp(), '-q', '1', '-t', topic, '-m', '"live"']);
  assert.deepEqual(linesOf(await late.ended), ['0 {"value":"live"}']);
});

for (const version of ['mqttv311', 'mqttv5']) {
  test(`${version}: -c and -i bring what came meanwhile`, { skip }, async () => {
    const expiry = version === 'mqttv5' ? ['-x', '3600'] : [];
    const mine = [...tcp(), '-V', version, '-c', '-i', `kept-${version}`, ...expiry, '-q', '2'];
    const first = await mosquittoEnter([...mine, '-t', value]);
    assert.equal(first.code, 0, first.errors);
    await publish([...tcp(), '-q', '1', '-t', value, '-m', '"one"']);
    await publish([...tcp(), '-q', '2', '-t', value, '-m', '"two"']);
    const again = await mosquittoSub(2, [...mine, '-t', value]).then(({ ended }) => ended);
    assert.deepEqual(linesOf(again).toSorted(), ['{"value":"one"}', '{"value":"two"}']);
  });
}
