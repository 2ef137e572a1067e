import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { openChannels } from '../../src/channels/index.ts';
import { channelUrls } from '../../src/channels/provider-settings.ts';
import { parseUsername } from '../../src/domain/ids.ts';
import type { ChannelName } from '../../src/domain/notifications/notification.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { aMessage } from '../contract/channels/channel-contract.ts';
import { startHttpStub } from '../contract/channels/http-stub.ts';
import { startSmppStub } from '../contract/channels/smpp-stub.ts';
import { temporaryStorage } from '../temporary-storage.ts';

const directory = mkdtempSync(join(tmpdir(), 'kipimo-channel-tls-'));
after(() => rmSync(directory, { recursive: true }));

const { callTexts } = await temporaryStorage();

let pair: { readonly key: string; readonly cert: string };

before(() => {
  const files = { key: join(directory, 'key.pem'), cert: join(directory, 'cert.pem') };
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2';
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const places = ['-keyout', files.key, '-out', files.cert];
  execFileSync('openssl', [...words.split(' '), ...names, ...places], { stdio: 'ignore' });
  pair = { key: readFileSync(files.key, 'utf8'), cert: readFileSync(files.cert, 'utf8') };
});

const to = {
  username: parseUsername('ama'),
  phone: '+255712345678',
  email: 'ama@example.org',
  twitter: '2244994945',
};

async function sendBy(name: ChannelName, settings: object, webhook?: string): Promise<string> {
  const { channels, close } = await openChannels({
    settings,
    webhooks: 'allowed',
    installationSecret: '0'.repeat(64),
    callTexts,
    clock: systemClock,
    log: silentLog,
  });
  const message = aMessage({ to: { ...to, ...(webhook !== undefined && { webhook }) } });
  const outcome = await channels.get(name)?.send(message, new AbortController().signal);
  close();
  return outcome?.kind ?? 'absent';
}

async function mailServer(options: { readonly secure: boolean }) {
  let mails = 0;
  const server = new SMTPServer({
    ...options,
    ...pair,
    authOptional: true,
    disableReverseLookup: true,
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => {
        mails += 1;
        done();
      });
    },
  });
  // A client that does not trust the certificate leaves at once.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received: () => mails,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

/** One way of each channel that speaks TLS, against a server with the certificate from above. */
const tries: Readonly<Record<string, () => Promise<readonly [string, number]>>> = {
  'mail by TLS': async () => {
    await using server = await mailServer({ secure: true });
    const url = `smtps://localhost:${server.port}?from=k@example.org`;
    return [await sendBy('email', { email: channelUrls.email(url) }), server.received()];
  },
  'mail by STARTTLS': async () => {
    await using server = await mailServer({ secure: false });
    const url = `smtp://localhost:${server.port}?from=k@example.org&tls=required`;
    return [await sendBy('email', { email: channelUrls.email(url) }), server.received()];
  },
  'a text message by SMPP': async () => {
    await using stub = await startSmppStub({ pair });
    const url = `smpps://id:pw@localhost:${stub.port}?from=KIPIMO`;
    return [await sendBy('sms', { sms: channelUrls.sms(url) }), stub.submits.length];
  },
  'a direct message of X': async () => {
    await using stub = await startHttpStub({
      behaviour: 'accepts',
      pair,
      answer: () => ({ status: 201, json: { data: { dm_event_id: '1' } } }),
    });
    const url = `x://a:b@api.x.com?access_token=c&access_secret=d&base=${stub.url}`;
    const settings = { twitter: channelUrls.twitter(url) };
    return [await sendBy('twitter', settings), stub.requests.length];
  },
  'a text message by HTTP': async () => {
    await using stub = await startHttpStub({
      behaviour: 'accepts',
      pair,
      answer: () => ({ status: 201, json: { sid: 'SM1', status: 'queued' } }),
    });
    const url = `twilio://AC0001:token@api.twilio.com?from=KIPIMO&base=${stub.url}`;
    return [await sendBy('sms', { sms: channelUrls.sms(url) }), stub.requests.length];
  },
  'a webhook': async () => {
    await using stub = await startHttpStub({
      behaviour: 'accepts',
      pair,
      answer: () => ({ status: 204 }),
    });
    return [await sendBy('webhook', {}, `${stub.url}/hook`), stub.requests.length];
  },
};

test('nothing is said to a server whose certificate nobody vouches for', async (t) => {
  for (const [what, attempt] of Object.entries(tries)) {
    await t.test(what, async () => assert.deepEqual(await attempt(), ['retry', 0]));
  }
});

test('a server whose certificate is trusted gets the message', async (t) => {
  setDefaultCACertificates([pair.cert]);
  for (const [what, attempt] of Object.entries(tries)) {
    await t.test(what, async () => assert.deepEqual(await attempt(), ['sent', 1]));
  }
});
