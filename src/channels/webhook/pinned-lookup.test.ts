import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { createResolve } from './pinned-lookup.ts';

const answerFlags = 0x8180;
const typeA = 1;

/** The answer to a question: 203.0.113.7 for A, nothing for AAAA [RFC 1035, 4]. */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const isA = query.readUInt16BE(end - 4) === typeA;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(answerFlags, 2);
  head.writeUInt16BE(isA ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7]);
  return isA ? Buffer.concat([head, record]) : head;
}

test('names that nobody answers for keep no other name waiting', async () => {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    if (query.includes('alive')) server.send(answerTo(query), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const servers = [`127.0.0.1:${server.address().port}`];
  const resolve = createResolve({ servers, timeoutMs: 1_000 });
  const ask = (name: string) =>
    new Promise<readonly string[] | string | undefined>((done) => {
      resolve(name, (error, found) =>
        done(error === null ? found.map(({ address }) => address) : error.code),
      );
    });
  const answered: string[] = [];
  const dead = Array.from({ length: 40 }, async (_, at) => {
    const code = await ask(`dead-${at}.test`);
    answered.push('dead');
    return code;
  });
  assert.deepEqual(await ask('alive.test'), ['203.0.113.7']);
  assert.deepEqual(answered, []);
  assert.ok((await Promise.all(dead)).every((code) => code === 'ETIMEOUT'));
  server.close();
});
