import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import type { Pdu } from 'smpp';
import { aMessage, describeChannel } from '../../../test/contract/channels/channel-contract.ts';
import { startSmppStub } from '../../../test/contract/channels/smpp-stub.ts';
import { parseUsername } from '../../domain/ids.ts';
import { readSmsUrl } from '../provider-settings.ts';
import { createSmppSms } from './smpp-sms.ts';

const phone = '+255712345678';
const to = { username: parseUsername('ama'), phone };
const { signal } = new AbortController();

function channelAt(port: number, options: { query?: string; enquireMs?: number } = {}) {
  const { query = 'from=KIPIMO', enquireMs } = options;
  const settings = readSmsUrl(`smpp://kipimo:s3cret-pw@127.0.0.1:${port}?${query}`);
  assert.equal(settings.provider, 'smpp');
  return createSmppSms({
    settings,
    responseMs: 5_000,
    ...(enquireMs !== undefined && { enquireMs }),
  });
}

describeChannel({
  name: 'sms by SMPP',
  recipient: { phone },
  secrets: ['s3cret-pw'],
  pauseMs: 5_000,
  async open(behaviour) {
    const stub = await startSmppStub(behaviour === 'is-absent' ? {} : { behaviour });
    if (behaviour === 'is-absent') await stub[Symbol.asyncDispose]();
    const channel = await channelAt(stub.port);
    return {
      channel,
      received: () => stub.submits.length,
      nextReceived: () => stub.next('submit_sm'),
      bytesTaken: () => stub.bytesTaken(),
      async [Symbol.asyncDispose]() {
        channel.close();
        if (behaviour !== 'is-absent') await stub[Symbol.asyncDispose]();
      },
    };
  },
});

interface ShortMessage {
  readonly udh?: readonly Buffer[];
  readonly message: string;
}

const shortMessageOf = (pdu: Pdu | undefined): ShortMessage =>
  pdu?.['short_message'] as ShortMessage;

async function submitsFor(text: string, query?: string): Promise<readonly Pdu[]> {
  await using stub = await startSmppStub({});
  const channel = await channelAt(stub.port, query === undefined ? {} : { query });
  const outcome = await channel.send(aMessage({ to, text }), signal);
  channel.close();
  assert.deepEqual(outcome, { kind: 'sent' });
  return stub.submits;
}

test('the session is bound as a transmitter with the system id and password', async () => {
  await using stub = await startSmppStub({});
  const channel = await channelAt(stub.port, { query: 'from=KIPIMO&system_type=farm' });
  await channel.send(aMessage({ to }), signal);
  channel.close();
  const [bind] = stub.binds;
  assert.equal(bind?.['system_id'], 'kipimo');
  assert.equal(bind['password'], 's3cret-pw');
  assert.equal(bind['system_type'], 'farm');
  assert.equal(bind['interface_version'], 0x34);
});

for (const [what, text, coding] of [
  ['Swahili', 'Unyevu wa shamba la mahindi ni 12', 0],
  ['French of the GSM alphabet', 'Température très élevée: 41 à Évry', 0],
  ['French beyond it', 'La fenêtre a été forcée', 8],
  ['an emoji', 'Fire 🔥 in the barn', 8],
  ['the euro sign and brackets', 'price {12} [€] ~|^\\', 0],
] as const) {
  test(`a text in ${what} arrives as it was written`, async () => {
    const [submit, ...others] = await submitsFor(text);
    assert.equal(others.length, 0);
    assert.equal(submit?.['data_coding'], coding);
    assert.equal(shortMessageOf(submit).message, text);
    assert.equal(submit['destination_addr'], '255712345678');
    assert.equal(submit['dest_addr_ton'], 1);
  });
}

for (const [from, ton, address] of [
  ['KIPIMO', 5, 'KIPIMO'],
  ['%2B255700000001', 1, '255700000001'],
  ['15040', 3, '15040'],
] as const) {
  test(`the sender ${from} is declared as type ${ton}`, async () => {
    const [submit] = await submitsFor('x', `from=${from}`);
    assert.equal(submit?.['source_addr_ton'], ton);
    assert.equal(submit['source_addr'], address);
  });
}

test('a long text travels in parts that a phone joins', async () => {
  const text = 'maji '.repeat(80).trim();
  const submits = await submitsFor(text);
  assert.equal(submits.length, 3);
  const headers = submits.map((submit) => {
    assert.equal(Number(submit['esm_class']) & 0x40, 0x40);
    return [...(shortMessageOf(submit).udh?.[0] ?? [])];
  });
  assert.equal(new Set(headers.map((header) => header[2])).size, 1, 'one reference for all');
  assert.deepEqual(
    headers.map((header) => header.slice(3)),
    [
      [3, 1],
      [3, 2],
      [3, 3],
    ],
  );
  assert.equal(submits.map((submit) => shortMessageOf(submit).message).join(''), text);
});

test('with long=payload a long text travels whole', async () => {
  const text = 'fenêtre '.repeat(30).trim();
  const [submit, ...others] = await submitsFor(text, 'from=KIPIMO&long=payload');
  assert.equal(others.length, 0);
  const payload = submit?.['message_payload'] as ShortMessage;
  assert.equal(payload.message, text);
});

test('a text that was stopped half-way goes on where it stopped', async () => {
  await using stub = await startSmppStub({ statusOf: (index) => (index === 1 ? 0x58 : 0) });
  const channel = await channelAt(stub.port);
  const message = aMessage({ to, text: 'maji '.repeat(80).trim() });
  assert.equal((await channel.send(message, signal)).kind, 'retry');
  assert.deepEqual(await channel.send(message, signal), { kind: 'sent' });
  channel.close();
  const numbers = stub.submits.map((submit) => shortMessageOf(submit).udh?.[0]?.[4]);
  assert.deepEqual(numbers, [1, 2, 2, 3]);
  const references = stub.submits.map((submit) => shortMessageOf(submit).udh?.[0]?.[2]);
  assert.equal(new Set(references).size, 1);
});

test('a session that ended is bound anew by the next message', async () => {
  await using stub = await startSmppStub({});
  const channel = await channelAt(stub.port);
  await channel.send(aMessage({ to }), signal);
  stub.dropSessions();
  // The end is noticed by the first message or before it; the outbox would try again.
  const outcomes = [
    await channel.send(aMessage({ to, deliveryId: 'd-2' }), signal),
    await channel.send(aMessage({ to, deliveryId: 'd-3' }), signal),
  ];
  channel.close();
  assert.equal(outcomes.at(-1)?.kind, 'sent');
  assert.equal(stub.binds.length, 2);
});

test('many messages at once share one session', async () => {
  await using stub = await startSmppStub({});
  const channel = await channelAt(stub.port);
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      channel.send(aMessage({ to, deliveryId: `d-${index}` }), signal),
    ),
  );
  channel.close();
  assert.ok(outcomes.every(({ kind }) => kind === 'sent'));
  assert.equal(stub.binds.length, 1);
  assert.equal(stub.submits.length, 50);
});

test('an idle session asks whether the other side lives', async () => {
  await using stub = await startSmppStub({});
  const asked = stub.next('enquire_link');
  const channel = await channelAt(stub.port, { enquireMs: 10 });
  await channel.send(aMessage({ to }), signal);
  // The timer does not keep a process alive, so something else has to until it rings.
  const alive = setInterval(() => undefined, 1_000);
  assert.equal((await asked).command, 'enquire_link');
  clearInterval(alive);
  channel.close();
});

test('a wrong password is for the administrator to mend, so the message waits', async () => {
  await using stub = await startSmppStub({ bindStatus: 0x0e });
  const channel = await channelAt(stub.port);
  const outcome = await channel.send(aMessage({ to }), signal);
  channel.close();
  assert.equal(outcome.kind, 'retry');
  assert.match(outcome.kind === 'retry' ? outcome.reason : '', /login/);
  assert.equal(stub.submits.length, 0);
});

test('closing ends a log-in that nobody answers', async () => {
  const heard = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => heard.resolve());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const channel = await channelAt((server.address() as AddressInfo).port);
  const sending = channel.send(aMessage({ to }), signal);
  await heard.promise;
  channel.close();
  assert.equal((await sending).kind, 'retry');
  assert.equal((await channel.send(aMessage({ to }), signal)).kind, 'retry');
  server.close();
});
