import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import {
  aMessage,
  describeChannel,
  type OpenedChannel,
} from '../../../test/contract/channels/channel-contract.ts';
import type { Behaviour } from '../../../test/contract/channels/http-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { readSmtpUrl } from '../provider-settings.ts';
import { createEmailChannel } from './email-channel.ts';

const password = 'mail-password-1';
const email = 'ama@example.org';
const to = { username: parseUsername('ama'), email };
const { signal } = new AbortController();

function channelAt(port: number, query = '') {
  const url = `smtp://kipimo:${password}@127.0.0.1:${port}?from=alarm@kipimo.test${query}`;
  return createEmailChannel({ settings: readSmtpUrl(url) });
}

interface MailServer {
  readonly port: number;
  readonly mails: readonly string[];
  readonly envelopes: readonly string[];
  next(): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
}

const failure = (responseCode: number) => Object.assign(new Error('no'), { responseCode });

/** A real mail server that refuses, is out of order or takes the mail. */
async function startMailServer(options: {
  readonly recipientCode?: number;
  readonly dataCode?: number;
  readonly authCode?: number;
  readonly isSilent?: boolean;
  readonly server?: SMTPServerOptions;
}): Promise<MailServer> {
  const mails: string[] = [];
  const envelopes: string[] = [];
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth({ username, password: given }, _session, done) {
      if (options.authCode !== undefined) done(failure(options.authCode));
      else if (username === 'kipimo' && given === password) done(null, { user: 'kipimo' });
      else done(failure(535));
    },
    onRcptTo({ address }, _session, done) {
      envelopes.push(address);
      done(options.recipientCode === undefined ? null : failure(options.recipientCode));
    },
    onData(stream, _session, done) {
      void readText(stream).then((mail) => {
        mails.push(mail);
        for (const settle of waiting.splice(0)) settle();
        if (options.isSilent === true) return;
        done(options.dataCode === undefined ? null : failure(options.dataCode));
      });
    },
    ...options.server,
  });
  // Clients that leave in the middle are what some tests are about.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    envelopes,
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}

/** A server that sends this to each client, over and over if it is endless. */
async function startTalker(words: string, isEndless: boolean) {
  const sockets = new Set<Socket>();
  let bytesTaken = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      bytesTaken += socket.bytesWritten;
    });
    const write = () => {
      while (!socket.destroyed && socket.bytesWritten < 100 * 1_048_576) {
        if (!socket.write(words)) return void socket.once('drain', write);
      }
    };
    if (isEndless) write();
    else socket.write(words);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    bytesTaken: () => bytesTaken,
    async [Symbol.asyncDispose]() {
      server.close();
      const open = [...sockets].filter((socket) => !socket.closed);
      const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of open) socket.destroy();
      await Promise.all(closed);
    },
  };
}

async function openMail(options: Parameters<typeof startMailServer>[0]): Promise<OpenedChannel> {
  const server = await startMailServer(options);
  return {
    channel: await channelAt(server.port),
    received: () => server.mails.length,
    nextReceived: () => server.next(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function openTalker(words: string, isEndless: boolean): Promise<OpenedChannel> {
  const talker = await startTalker(words, isEndless);
  return {
    channel: await channelAt(talker.port),
    received: () => 0,
    nextReceived: async () => undefined,
    bytesTaken: talker.bytesTaken,
    [Symbol.asyncDispose]: () => talker[Symbol.asyncDispose](),
  };
}

async function open(behaviour: Behaviour | 'is-absent'): Promise<OpenedChannel> {
  switch (behaviour) {
    case 'accepts':
      return openMail({});
    case 'throttles':
      return openMail({ recipientCode: 450 });
    case 'fails':
      return openMail({ dataCode: 451 });
    case 'refuses':
      return openMail({ recipientCode: 550 });
    case 'is-silent':
      return openMail({ isSilent: true });
    case 'babbles':
      return openTalker('HTTP/1.1 200 OK\r\n\r\n', false);
    case 'floods':
      return openTalker('220-welcome to a very talkative mail server\r\n'.repeat(1_000), true);
    default: {
      const opened = await openMail({});
      await opened[Symbol.asyncDispose]();
      return { ...opened, [Symbol.asyncDispose]: async () => undefined };
    }
  }
}

describeChannel({
  name: 'email',
  recipient: { email },
  secrets: [password, Buffer.from(`\0kipimo\0${password}`).toString('base64')],
  open,
});

async function mailFor(text: string): Promise<string> {
  await using server = await startMailServer({});
  const channel = await channelAt(server.port, '&name=Shamba');
  assert.deepEqual(await channel.send(aMessage({ to, text }), signal), { kind: 'sent' });
  assert.deepEqual(server.envelopes, [email]);
  return server.mails[0] ?? '';
}

test('a mail says who sends it, to whom, about what, and that a machine wrote it', async () => {
  const mail = await mailFor('Humidity is 12\nSecond line');
  assert.match(mail, /^From: Shamba <alarm@kipimo\.test>\r$/m);
  assert.match(mail, /^To: <?ama@example\.org>?\r$/m);
  assert.match(mail, /^Subject: Humidity is 12\r$/m);
  assert.match(mail, /^Auto-Submitted: auto-generated\r$/m);
  assert.match(mail, /^Message-ID: <d-1@kipimo\.test>\r$/m);
  assert.match(mail, /\r\n\r\nHumidity is 12\r\nSecond line/);
});

test('a text cannot add headers or recipients', async () => {
  const mail = await mailFor('x\r\nBcc: eve@example.org\r\nSubject: y');
  const headers = mail.split('\r\n\r\n')[0] ?? '';
  assert.doesNotMatch(headers, /^Bcc/m);
  assert.equal(headers.match(/^Subject:/gm)?.length, 1);
});

for (const address of [
  'ama@example.org, eve@example.org',
  'ama@example.org\r\nBcc: eve@example.org',
  '"ama" <ama@example.org>',
  'no address',
  `${'a'.repeat(300)}@example.org`,
]) {
  test(`${JSON.stringify(address.slice(0, 24))} in a profile is refused`, async () => {
    await using server = await startMailServer({});
    const channel = await channelAt(server.port);
    const bad = { username: parseUsername('ama'), email: address };
    assert.equal((await channel.send(aMessage({ to: bad }), signal)).kind, 'refused');
    assert.equal(server.envelopes.length, 0);
  });
}

test('a login that is not accepted is for the administrator to mend', async () => {
  await using server = await startMailServer({ authCode: 535 });
  const channel = await channelAt(server.port);
  const outcome = await channel.send(aMessage({ to }), signal);
  assert.equal(outcome.kind, 'retry');
  assert.match(outcome.kind === 'retry' ? outcome.reason : '', /login/);
});

test('without TLS nothing is said where TLS is required', async () => {
  await using server = await startMailServer({});
  const channel = await channelAt(server.port, '&tls=required');
  const outcome = await channel.send(aMessage({ to }), signal);
  assert.equal(outcome.kind, 'retry');
  assert.equal(server.envelopes.length, 0);
});
