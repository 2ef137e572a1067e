import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { ConfigError } from '../../src/config/config.ts';
import { type Service, startService } from '../service.ts';

const pollMs = 50;
const pollsMax = 400;

let directory: string;
let certFile: string;
let keyFile: string;
let service: Service;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kipimo-tls-'));
  certFile = join(directory, 'cert.pem');
  keyFile = join(directory, 'key.pem');
  install('first.test');
  service = await startService({
    environment: {
      KIPIMO_TLS_CERT: certFile,
      KIPIMO_TLS_KEY: keyFile,
      KIPIMO_MQTTS_PORT: '0',
    },
  });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Puts a fresh certificate of this name where the service looks, as renewal tools do. */
function install(name: string): void {
  const cert = `${certFile}.new`;
  const key = `${keyFile}.new`;
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const place = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', [...words.split(' '), ...place, ...files], { stdio: 'ignore' });
  renameSync(key, keyFile);
  renameSync(cert, certFile);
}

interface Seen {
  readonly status: number | undefined;
  readonly body: string;
  readonly certificate: string | undefined;
  readonly isReused: boolean;
}

async function ask(agent: Agent): Promise<Seen> {
  // Nobody signed the certificate but itself; the test looks at its name instead.
  const request = get(`${service.url}/healthz`, { agent, rejectUnauthorized: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const subject = (response.socket as TLSSocket).getPeerCertificate().subject;
  let body = '';
  for await (const chunk of response) body += String(chunk);
  const certificate = [subject.CN].flat()[0];
  return { status: response.statusCode, body, certificate, isReused: request.reusedSocket };
}

const askAnew = (): Promise<Seen> => ask(new Agent({ keepAlive: false }));

test('with a certificate the service speaks HTTPS and nothing else', async () => {
  assert.match(service.url, /^https:/);
  const seen = await askAnew();
  assert.equal(seen.status, 200);
  assert.deepEqual(JSON.parse(seen.body), { status: 'ok' });
  assert.equal(seen.certificate, 'first.test');
  await assert.rejects(fetch(`${service.url.replace('https:', 'http:')}/healthz`));
});

test('new connections get a renewed certificate while an open one lives on', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    assert.equal((await ask(agent)).certificate, 'first.test');
    install('second.test');
    let seen = await askAnew();
    for (let poll = 0; seen.certificate !== 'second.test' && poll < pollsMax; poll += 1) {
      await setTimeout(pollMs);
      seen = await askAnew();
    }
    assert.equal(seen.certificate, 'second.test');
    const old = await ask(agent);
    assert.equal(old.isReused, true);
    assert.equal(old.status, 200);
    assert.equal(old.certificate, 'first.test');
  } finally {
    agent.destroy();
  }
});

test('a certificate that cannot be read stops the start with the name of its key', async () => {
  const environment = { KIPIMO_TLS_CERT: join(directory, 'none.pem'), KIPIMO_TLS_KEY: keyFile };
  await assert.rejects(startService({ directory, environment }), (error: unknown) => {
    assert.ok(error instanceof ConfigError);
    return error.message.includes('KIPIMO_TLS_CERT');
  });
  const alone = startService({ directory, environment: { KIPIMO_TLS_CERT: certFile } });
  await assert.rejects(alone, /KIPIMO_TLS_KEY/);
});

test('a key that does not belong to the certificate stops the start', async () => {
  const strange = join(directory, 'strange.pem');
  execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-out', strange]);
  const environment = { KIPIMO_TLS_CERT: certFile, KIPIMO_TLS_KEY: strange };
  const options = { directory: join(directory, 'unused'), environment };
  await assert.rejects(startService(options));
  writeFileSync(strange, 'no key at all');
  await assert.rejects(startService(options));
});
