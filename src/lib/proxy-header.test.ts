import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { proxyHeaderBytesMax, readProxyHeader } from './proxy-header.ts';

const signature = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10];

/** A header with this command, family and body. */
function headerOf(command: number, family: number, body: readonly number[]): Uint8Array {
  return Uint8Array.of(
    ...signature,
    ...[command, family, body.length >> 8, body.length & 255],
    ...body,
  );
}

const bytesOf = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 255 }), { minLength: length, maxLength: length });
const more = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 200 });

test('an address of IPv4 is read, whatever stands behind it', () => {
  fc.assert(
    fc.property(bytesOf(4), bytesOf(8), more, more, (source, others, fields, own) => {
      const header = headerOf(0x21, 0x11, [...source, ...others, ...fields]);
      assert.deepEqual(readProxyHeader(Uint8Array.of(...header, ...own)), {
        ...{ kind: 'whole', address: source.join('.'), end: header.length },
      });
    }),
  );
});

test('an address of IPv6 is read, and written as usual', () => {
  const addressOf = (source: readonly number[]) => {
    const header = readProxyHeader(headerOf(0x21, 0x21, [...source, ...Array(20).fill(1)]));
    return header.kind === 'whole' ? header.address : header.kind;
  };
  const zeros = Array<number>(10).fill(0);
  assert.equal(addressOf([0x20, 0x01, 0x0d, 0xb8, ...zeros, 0, 1]), '2001:db8::1');
  assert.equal(addressOf([...zeros, 255, 255, 192, 0, 2, 9]), '192.0.2.9');
  assert.equal(addressOf([...zeros, 0, 0, 0, 0, 0, 1]), '::1');
  fc.assert(
    fc.property(bytesOf(16), (source) => {
      assert.match(addressOf(source) ?? '', /^[\da-f:.]{2,39}$/);
    }),
  );
});

test('every beginning of a header is cut off, and none is taken for the whole', () => {
  fc.assert(
    fc.property(
      bytesOf(4),
      more,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (source, tail, part) => {
        const header = headerOf(0x21, 0x11, [...source, ...Array<number>(8).fill(7), ...tail]);
        const cut = header.subarray(0, Math.floor(part * (header.length - 1)));
        assert.deepEqual(readProxyHeader(cut), { kind: 'cut off' });
      },
    ),
  );
});

test('the balancer itself, and somebody without an address of IP, have no address', () => {
  for (const header of [
    headerOf(0x20, 0x00, []),
    headerOf(0x20, 0x11, [1, 2, 3]),
    headerOf(0x21, 0x00, [1, 2, 3]),
    headerOf(0x21, 0x31, Array<number>(216).fill(47)),
  ]) {
    assert.deepEqual(readProxyHeader(header), { kind: 'whole', end: header.length });
  }
});

test('what is wrong is malformed', () => {
  const twelve = Array<number>(12).fill(1);
  for (const header of [
    headerOf(0x11, 0x11, twelve),
    headerOf(0x22, 0x11, twelve),
    headerOf(0x21, 0x12, twelve),
    headerOf(0x21, 0x11, twelve.slice(1)),
    headerOf(0x21, 0x21, twelve),
    headerOf(0x21, 0x31, twelve),
    headerOf(0x21, 0xff, twelve),
    headerOf(0x21, 0x11, Array<number>(proxyHeaderBytesMax).fill(1)),
  ]) {
    assert.deepEqual(readProxyHeader(header), { kind: 'malformed' });
  }
  // A header that will be too long is not waited for.
  const long = headerOf(0x21, 0x11, Array<number>(proxyHeaderBytesMax).fill(1)).subarray(0, 16);
  assert.deepEqual(readProxyHeader(long), { kind: 'malformed' });
});

test('whatever bytes come, nothing is thrown, and what does not begin as one is none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const isSigned = bytes.every((byte, at) => at >= 12 || byte === signature[at]);
      if (!isSigned) assert.deepEqual(readProxyHeader(bytes), { kind: 'absent' });
      const header = readProxyHeader(Uint8Array.of(...signature, ...bytes));
      assert.notEqual(header.kind, 'absent');
      if (header.kind === 'whole') assert.ok(header.end <= 12 + bytes.length);
    }),
  );
});
