import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import fc, { array, asyncProperty, constantFrom, oneof, string } from 'fast-check';
import { aMessage } from '../../../test/contract/channels/channel-contract.ts';
import { parseUsername } from '../../domain/ids.ts';
import { readSmtpUrl } from '../provider-settings.ts';
import { createEmailChannel } from './email-channel.ts';

let replies: readonly string[] = [];

/** Sends the replies one by one, whatever it receives, and hangs up. */
const server = createServer((socket) => {
  let next = 0;
  const say = () => {
    const reply = replies[next];
    next += 1;
    if (reply === undefined) socket.end();
    else socket.write(reply);
  };
  socket.on('error', () => undefined);
  socket.on('data', say);
  say();
});

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => server.close());

const anyReply = oneof(
  constantFrom(
    '220 hello\r\n',
    '250-x\r\n250-AUTH PLAIN LOGIN CRAM-MD5 XOAUTH2\r\n250-SIZE 1\r\n250 STARTTLS\r\n',
    '250 ok\r\n',
    '250-no end',
    '334 VXNlcm5hbWU6\r\n',
    '334 not base64 at all ☂\r\n',
    '235 in\r\n',
    '354 go on\r\n',
    '421 bye\r\n',
    '535 5.7.8 no\r\n',
    '550 5.1.1 ama@example.org +255712345678\r\n',
    '999 \r\n',
    '\r\n\r\n\0\r\n',
  ),
  string({ unit: 'binary', maxLength: 40 }),
);

test('a mail server that says anything gets an outcome, and harms nobody', async () => {
  const { port } = server.address() as AddressInfo;
  const settings = readSmtpUrl(`smtp://kipimo:pw@127.0.0.1:${port}?from=k@example.org`);
  const channel = await createEmailChannel({ settings });
  const to = { username: parseUsername('ama'), email: 'ama@example.org' };
  await fc.assert(
    asyncProperty(array(anyReply, { maxLength: 9 }), async (said) => {
      replies = said;
      const outcome = await channel.send(aMessage({ to }), AbortSignal.timeout(60));
      assert.ok(['sent', 'retry', 'refused'].includes(outcome.kind));
      assert.doesNotMatch(JSON.stringify(outcome), /ama@|255712/);
    }),
    { numRuns: 60 },
  );
});
