import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { addressList } from '../config/config-kinds.ts';
import { createClients } from './authentication.ts';

const trusted = addressList.parse('127.0.0.1, 10.0.0.0/8, fd00::/8') ?? (() => false);
const clients = createClients(trusted);

function requestFrom(
  remoteAddress: string,
  headers: IncomingMessage['headers'] = {},
  encrypted = false,
): IncomingMessage {
  // What is read of a request to find its client.
  return { socket: { remoteAddress, encrypted }, headers } as unknown as IncomingMessage;
}

const addressOf = (peer: string, forwarded?: string): string =>
  clients.of(requestFrom(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }))
    .address;

test('a header of somebody who is no trusted proxy is not believed', () => {
  assert.equal(addressOf('203.0.113.9', '198.51.100.1'), '203.0.113.9');
  assert.equal(addressOf('203.0.113.9'), '203.0.113.9');
});

test('the address is read from the right, past the proxies that are trusted', () => {
  assert.equal(addressOf('127.0.0.1', '198.51.100.1'), '198.51.100.1');
  assert.equal(addressOf('::ffff:127.0.0.1', '198.51.100.1, 10.1.2.3'), '198.51.100.1');
  // The left one was made up by the client.
  assert.equal(addressOf('127.0.0.1', '192.0.2.7, 198.51.100.1, 10.1.2.3'), '198.51.100.1');
  assert.equal(addressOf('fd00::5', '2001:db8::1'), '2001:db8::1');
  assert.equal(addressOf('10.9.9.9', '10.1.1.1, 10.2.2.2'), '10.1.1.1');
});

test('ports and brackets are taken off, and what is no address ends the walk', () => {
  assert.equal(addressOf('127.0.0.1', '198.51.100.1:4711'), '198.51.100.1');
  assert.equal(addressOf('127.0.0.1', '[2001:db8::1]:443'), '2001:db8::1');
  assert.equal(addressOf('127.0.0.1', '198.51.100.1, unknown, 10.1.1.1'), '10.1.1.1');
  assert.equal(addressOf('127.0.0.1', ''), '127.0.0.1');
});

test('a connection is asked once, and again when the proxy sends for somebody else', () => {
  const request = requestFrom('127.0.0.1', { 'x-forwarded-for': '198.51.100.1' });
  const first = clients.of(request);
  assert.equal(clients.of(request), first);
  assert.deepEqual(first.guest, { kind: 'guest', address: '198.51.100.1' });
  request.headers['x-forwarded-for'] = '198.51.100.2';
  assert.equal(clients.of(request).address, '198.51.100.2');
});

test('a request is secure by its own connection, or by the word of a trusted proxy', () => {
  const isSecure = (peer: string, proto: string | undefined, encrypted = false) =>
    clients.isSecure(
      requestFrom(peer, proto === undefined ? {} : { 'x-forwarded-proto': proto }, encrypted),
    );
  assert.equal(isSecure('203.0.113.9', 'https'), false);
  assert.equal(isSecure('203.0.113.9', 'http', true), true);
  assert.equal(isSecure('127.0.0.1', 'https'), true);
  assert.equal(isSecure('127.0.0.1', 'https, http', true), false);
  assert.equal(isSecure('127.0.0.1', undefined, true), true);
});

test('the list takes addresses and networks, and nothing else', () => {
  assert.equal(addressList.parse('10.0.0.1')?.('10.0.0.1'), true);
  assert.equal(addressList.parse('2001:db8::/32')?.('2001:db8:1::1'), true);
  assert.equal(addressList.parse('10.0.0.0/8')?.('2001:db8::1'), false);
  for (const text of ['proxy', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0', ',', '1.2.3.4/a']) {
    assert.equal(addressList.parse(text), undefined, text);
  }
});
