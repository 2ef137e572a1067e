import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestCutter } from './request-cutter.ts';
import { HeadReader } from './request-head.ts';

const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

function read(text: string) {
  const bytes = Buffer.from(text, 'latin1');
  return new HeadReader().read(bytes, bytes.length);
}

test('a head is read by the grammar of HTTP/1.1 and 1.0, with one host at most', () => {
  assert.ok(read(get) && read(get.replace('1.1', '1.0')));
  for (const [sign, instead] of [
    ['Host: x', 'Host: x\r\nHost: x'],
    ['Host: x', 'Host: x\r\nhost: y'],
    ['HTTP/1.1', 'HTTP/2.0'],
    [' HTTP', '  HTTP'],
    ['GET ', 'GET  '],
  ] as const) {
    assert.equal(read(get.replace(sign, instead)), undefined, instead);
  }
});

test('a head has so many fields', () => {
  const next = (fields: number) => {
    const cutter = new RequestCutter();
    const more = Array.from({ length: fields - 1 }, (_, at) => `X-${at}: 1\r\n`).join('');
    cutter.add(Buffer.from(get.replace('\r\n\r\n', `\r\n${more}\r\n`)));
    return cutter.next(
      () => true,
      () => true,
    );
  };
  assert.equal(typeof next(100), 'object');
  assert.equal(typeof next(101), 'string');
});
