import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import fc, { array, asyncProperty, constantFrom, nat, oneof, record, uint8Array } from 'fast-check';
import smpp, { type Pdu } from 'smpp';
import { aMessage } from '../../../test/contract/channels/channel-contract.ts';
import { parseUsername } from '../../domain/ids.ts';
import { readSmsUrl } from '../provider-settings.ts';
import { createSmppSms } from './smpp-sms.ts';

interface Frame {
  readonly command: number;
  readonly status: number;
  readonly sequence: number;
  readonly body: Uint8Array;
  /** What the header says beyond the true length. */
  readonly lie: number;
}

let frames: readonly Frame[] = [];

/** Binds any client, and answers a submit with whatever frames are set. */
const server = createServer((socket) => {
  const session = new smpp.Session({ socket });
  session.on('error', () => undefined);
  session.on('pdu', (pdu: Pdu) => {
    if (pdu.command === 'bind_transmitter') session.send(pdu.response());
    if (pdu.command !== 'submit_sm') return;
    for (const frame of frames) socket.write(bytesOf(frame));
    socket.end();
  });
});

function bytesOf({ command, status, sequence, body, lie }: Frame): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE((16 + body.length + lie) >>> 0, 0);
  header.writeUInt32BE(command >>> 0, 4);
  header.writeUInt32BE(status >>> 0, 8);
  header.writeUInt32BE(sequence >>> 0, 12);
  return Buffer.concat([header, body]);
}

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => server.close());

/** Every command of SMPP 3.4 and 5.0, questions and answers, and some that there are not. */
const known = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x15, 0x21, 0x102, 0x103, 0x111,
  0x112, 0x113, 0x7fff,
];
const anyCommand = constantFrom(...known, ...known.map((command) => (command | 0x80000000) >>> 0));

const anyFrame = record({
  command: anyCommand,
  status: oneof(constantFrom(0, 0, 0x58), nat(0xffffffff)),
  sequence: oneof(constantFrom(0, 1, 2, 3), nat(0xffffffff)),
  body: uint8Array({ maxLength: 80 }),
  lie: oneof(constantFrom(0, 0, 0, 1, -8, -16, 0x7fffffff), nat(64)),
});

test('a message centre that sends any frames gets an outcome, and harms nobody', async () => {
  const { port } = server.address() as AddressInfo;
  const settings = readSmsUrl(`smpp://id:pw@127.0.0.1:${port}?from=KIPIMO`);
  assert.ok(settings.provider === 'smpp');
  const to = { username: parseUsername('ama'), phone: '+255712345678' };
  await fc.assert(
    asyncProperty(array(anyFrame, { maxLength: 12 }), async (sent) => {
      frames = sent;
      const channel = await createSmppSms({ settings, responseMs: 200 });
      const outcome = await channel.send(aMessage({ to }), new AbortController().signal);
      channel.close();
      assert.ok(['sent', 'retry', 'refused'].includes(outcome.kind));
    }),
    { numRuns: 150 },
  );
});
