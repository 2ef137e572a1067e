import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requestLimits } from '../request-limits.ts';
import { type HotHead, hotPattern, type KeptRequest, readHotRequest } from './reader.ts';

const lines = [
  hotPattern('POST', '/devices/:device/value', 'push'),
  hotPattern('GET', '/devices/:device', 'read'),
];

const push = (length: number, agent: string): Buffer =>
  Buffer.from(
    `POST /devices/d1/value HTTP/1.1\r\nHost: x\r\nUser-Agent: ${agent}\r\n` +
      `Content-Length: ${length}\r\n\r\n${'1'.repeat(length)}`,
  );
const read = (agent: string): Buffer =>
  Buffer.from(`GET /devices/d1 HTTP/1.1\r\nHost: x\r\nUser-Agent: ${agent}\r\n\r\n`);

/** The same head behind another line. */
const renamed = (request: Buffer, line: string, version = ' HTTP/1.1'): Buffer =>
  Buffer.from(request.toString().replace(/^.* HTTP\/1\.1/, line + version));

const agent = fc.constantFrom('a', 'ab', 'b');
const request = fc.oneof(
  fc.tuple(fc.constantFrom(1, 2, 12), agent).map(([length, name]) => push(length, name)),
  agent.map(read),
  // The head of one method with the line of the other, and one head that ends as another does.
  agent.map((name) => renamed(read(name), 'POST /devices/d1/value')),
  agent.map((name) => renamed(push(1, name), 'GET /devices/d1')),
  agent.map((name) => renamed(push(1, name), 'POST /devices/d1/value HTTP/1.1\r\nAccept: a', '')),
  fc.constant(Buffer.from('GET /other HTTP/1.1\r\nHost: x\r\n\r\n')),
);

test('a request is read the same whatever came before it on its connection', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
      let latest: KeptRequest<string> | undefined;
      for (const bytes of requests) {
        const found = readHotRequest(bytes, 0, lines, latest);
        const alone = readHotRequest(bytes, 0, lines, undefined);
        assert.deepEqual({ ...found, kept: undefined }, { ...alone, kept: undefined });
        latest = found?.kept ?? latest;
      }
    }),
  );
});

test('two heads that alternate are read once, and a third one pushes out the older', () => {
  let latest: KeptRequest<string> | undefined;
  const headOf = (bytes: Buffer): HotHead | undefined => {
    const found = readHotRequest(bytes, 0, lines, latest);
    latest = found?.kept;
    return found?.head;
  };
  const [one, two] = [push(1, 'a'), push(2, 'a')];
  const heads = [one, two, one, two].map(headOf);
  assert.ok(heads[0] !== undefined && heads[0] === heads[2]);
  assert.ok(heads[1] !== undefined && heads[1] === heads[3]);
  headOf(push(12, 'a'));
  assert.equal(headOf(two), heads[1]);
  assert.notEqual(headOf(one), heads[0]);
});

test('of the heads that alternate, long ones are not kept beside another', () => {
  const long = 'a'.repeat(requestLimits.keptFieldsBytesMax);
  let latest = readHotRequest(push(1, long), 0, lines, undefined)?.kept;
  latest = readHotRequest(push(1, 'b'), 0, lines, latest)?.kept;
  assert.equal(latest?.before, undefined);
});
