import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aGateway, aSensor, aUser } from '../../../test/contract/storage/builders.ts';
import type { ExportRecord } from './export-format.ts';
import { requireTakeable } from './import-checks.ts';

const tag = 'A'.repeat(43);
const hash = `$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21l$${tag}`;
const user = (changes: object, passwordHash: unknown = hash): unknown => ({
  ...{ kind: 'user', user: { ...aUser('ama'), ...changes }, passwordHash },
});
const refusal = (line: unknown): string => {
  try {
    requireTakeable(line as ExportRecord, 7);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : `${error}`;
  }
};

const target = { kind: 'device', resource: 'pump', scopes: ['devices:view'] };
const invitation = (changes: object, uses: unknown = [{ user: 'u2', isGiven: true }]): unknown => {
  const times = { createdAt: 1, expiresAt: 2, usesLeft: 3, isRevoked: false };
  const one = { id: 'i', hash: 'h', giver: 'u1', ...times, targets: [target] };
  return { kind: 'invitation', invitation: { ...one, ...changes }, uses };
};

test('a line as the exporter writes it is taken', () => {
  const device = aDevice('pump', { sensors: [aSensor('s'), aSensor('m', { measures: 'amount' })] });
  for (const line of [
    user({}),
    { kind: 'device', device },
    { kind: 'gateway', gateway: aGateway('g') },
    invitation({}),
  ]) {
    assert.equal(refusal(line), '');
  }
});

test('a name, id, right or hash that the API refuses is refused, with line and field', () => {
  const device = (changes: object): unknown => ({
    ...{ kind: 'device', device: { ...aDevice('pump'), ...changes } },
  });
  const grant = { kind: 'device', resource: 'pump', username: 'ama', scopes: ['root'] };
  const bad: readonly (readonly [unknown, RegExp])[] = [
    ...['guest', 'Guest', '.', '..', 'me', '<img src=x>', '', 'a/b', 7, null].map(
      (username) => [user({ username }), /^line 7, username .*: /] as const,
    ),
    [user({ id: '../x' }), /^line 7, id .*: /],
    [
      user({}, hash.replace('m=19456,t=2', 'm=1500000,t=12')),
      /^line 7, passwordHash .*: .*four times/,
    ],
    [user({}, 5), /^line 7, passwordHash .*: /],
    [device({ id: '../../../evil' }), /^line 7, id .*evil.*: /],
    [device({ owner: '<b>' }), /^line 7, owner .*: /],
    [device({ sensors: [{ ...aSensor('s'), id: '../s' }] }), /^line 7, sensors\.id .*: /],
    [
      device({ sensors: [{ ...aSensor('s'), measures: 'sum' }] }),
      /^line 7, sensors\.measures "sum": it must be one of gauge, counter, amount/,
    ],
    [device({ sensors: [null] }), /^line 7, sensors\.id .*: /],
    [{ kind: 'gateway', gateway: { ...aGateway('g'), id: '../g' } }, /^line 7, id .*: /],
    [{ kind: 'grant', grant }, /^line 7, scopes .*root.*: /],
    [{ kind: 'device' }, /^line 7, id .*: /],
    [user({ lastLoginAt: 'today' }), /^line 7, lastLoginAt .*whole number/],
    [{ kind: 'invitation' }, /^line 7, id .*: /],
    [invitation({ hash: 7 }), /^line 7, hash 7: it must be a text/],
    [invitation({ usesLeft: 1.5 }), /^line 7, usesLeft 1.5: .*whole number/],
    [invitation({ expiresAt: null }), /^line 7, expiresAt null: .*whole number/],
    [invitation({ targets: 'all' }), /^line 7, targets "all": .*a device/],
    [invitation({ targets: [{ ...target, kind: 'constructor' }] }), /^line 7, targets .*a device/],
    [invitation({ targets: [{ ...target, resource: '../x' }] }), /^line 7, targets .*: /],
    [invitation({ targets: [{ ...target, scopes: ['root'] }] }), /^line 7, targets .*: /],
    [invitation({ targets: [{ ...target, scopes: undefined }] }), /^line 7, targets .*scopes/],
    [invitation({}, [{ user: 'u2' }]), /^line 7, uses .*given/],
    [invitation({}, 'everybody'), /^line 7, uses .*: /],
  ];
  for (const [line, saying] of bad) assert.match(refusal(line), saying, JSON.stringify(line));
});
