import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { constantFrom, integer, property, tuple } from 'fast-check';
import { aMessage } from '../../../test/contract/channels/channel-contract.ts';
import { parseUsername } from '../../domain/ids.ts';
import { isPublicAddress, specialV4 } from './pinned-lookup.ts';
import { createWebhookChannel } from './webhook-channel.ts';

const channel = createWebhookChannel({
  installationSecret: '0'.repeat(64),
  privateAddresses: 'refused',
  now: () => 0,
  // Whatever gets as far as a name has passed: the test would see "retry".
  resolve: (_hostname, done) => done(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []),
});

async function outcomeFor(host: string): Promise<string> {
  const to = { username: parseUsername('ama'), webhook: `https://${host}/hook` };
  const outcome = await channel.send(aMessage({ to }), AbortSignal.timeout(2_000));
  return outcome.kind;
}

const octetsOf = (value: number): readonly number[] => [
  (value >>> 24) & 255,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
];

const numberOf = (dotted: string): number =>
  dotted.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

/** Every way in which people, and attackers, write one IPv4 address in a URL. */
function notationsOf(value: number): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = octetsOf(value);
  const hex = (octet: number) => octet.toString(16).padStart(2, '0');
  const mapped = `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`;
  return [
    `${a}.${b}.${c}.${d}`,
    `${a}.${b}.${c}.${d}.`,
    `${value >>> 0}`,
    `0x${hex(a)}${hex(b)}${hex(c)}${hex(d)}`,
    `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::ffff:${mapped}]`,
    `[0:0:0:0:0:ffff:${mapped}]`,
    `[::${mapped}]`,
    `[64:ff9b::${mapped}]`,
    `[64:ff9b:1::${mapped}]`,
    `[2002:${mapped}::1]`,
    `[2001:0:0:0:0:0:${mapped}]`,
  ];
}

const anyRefusedV4 = tuple(constantFrom(...specialV4), integer({ min: 0, max: 2 ** 32 - 1 })).map(
  ([[address, prefix], random]) => {
    const mask = prefix === 0 ? 0 : (0xffffffff << (32 - prefix)) >>> 0;
    return ((numberOf(address) & mask) | (random & ~mask)) >>> 0;
  },
);

test('every address of every private range is refused, however it is written', async () => {
  const addresses: number[] = [];
  fc.assert(
    property(anyRefusedV4, (value) => {
      assert.equal(isPublicAddress(octetsOf(value).join('.')), false);
      addresses.push(value);
    }),
    { numRuns: 150 },
  );
  for (const value of addresses) {
    for (const host of notationsOf(value)) {
      assert.equal(await outcomeFor(host), 'refused', host);
    }
  }
});

test('the first and last address of each range are refused, their neighbours judged', () => {
  for (const [address, prefix] of specialV4) {
    const first = numberOf(address);
    const last = first + 2 ** (32 - prefix) - 1;
    for (const value of [first, last]) {
      assert.equal(isPublicAddress(octetsOf(value).join('.')), false, `${value}`);
    }
  }
  const outside = ['9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '100.63.255.255'];
  for (const address of [...outside, '100.128.0.0', '169.253.255.255', '169.255.0.0', '1.1.1.1']) {
    assert.equal(isPublicAddress(address), true, address);
  }
});

for (const host of [
  '127.0.0.1',
  '169.254.169.254',
  '0',
  '0.0.0.0',
  '127.1',
  '[::1]',
  '[::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[fec0::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[2001:10::1]',
  '[3fff::1]',
  '[5f00::1]',
  '１２７.0.0.1',
  '127。0。0。1',
]) {
  test(`a webhook to ${host} is refused`, async () => {
    assert.equal(await outcomeFor(host), 'refused');
  });
}

for (const address of ['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '8.8.8.8']) {
  test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
}

for (const text of [
  '',
  'localhost',
  '1.2.3',
  '8.8.8.8 ',
  'fe80::1%eth0',
  '2606::1%1',
  '256.1.1.1',
]) {
  test(`"${text}" is no public address`, () => assert.equal(isPublicAddress(text), false));
}
