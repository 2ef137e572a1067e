import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deviceQueries } from './device-query.ts';
import { attentionFirst, freshnessOf, instantOf, lastHeardAt, staleAfterMs } from './freshness.ts';
import { idFromName, isId, usernameFrom } from './id-check.ts';
import { draftOf, emptyProfile, profileMessage } from './profile.ts';
import { deviceRights } from './rights.ts';
import { partScopes, scopeWord } from './sharing-words.ts';
import type { Device, MyGrants, Term } from './types.ts';
import { unitSymbol } from './unit-symbol.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const at = (agoMs: number): string => new Date(now - agoMs).toISOString();

function aDevice(parts: Partial<Device> = {}): Device {
  return {
    id: 'pond',
    owner: 'ama',
    sensors: [],
    actuators: [],
    date_created: at(0),
    date_modified: at(0),
    ...parts,
  };
}

test('without a text there is one query, with one there are two', () => {
  assert.deepEqual(deviceQueries({ owner: 'ama' }), ["owner=='ama'"]);
  assert.deepEqual(deviceQueries({ owner: 'ama', text: ' Field 3 ' }), [
    "owner=='ama';name~='(?i)Field';name~='(?i)3'",
    "owner=='ama';id~='(?i)Field';id~='(?i)3'",
  ]);
});

test('what stands for something in patterns or in the language is taken as it is', () => {
  assert.deepEqual(deviceQueries({ text: "a+b(c)';d" }), [
    "name~='(?i)a\\+b\\(c\\).\\.d'".replace('.\\.', '..'),
    "id~='(?i)a\\+b\\(c\\).\\.d'".replace('.\\.', '..'),
  ]);
});

test('public is what is not private, since absent counts as public', () => {
  assert.deepEqual(deviceQueries({ visibility: 'public' }), ['visibility!=private']);
  assert.deepEqual(deviceQueries({ visibility: 'private', ids: ['a', 'b'] }), [
    "visibility==private;id=='a','b'",
  ]);
});

test('many ids are several queries, since the filter of a list has an end', () => {
  const ids = Array.from({ length: 95 }, (_, place) => `d${place}`);
  const queries = deviceQueries({ ids, text: 'pond' });
  assert.equal(queries.length, 6);
  const asked = queries.filter((query) => query.includes('name~=')).join(',');
  assert.deepEqual(
    asked.match(/'d\d+'/g),
    ids.map((id) => `'${id}'`),
  );
  assert.ok(queries.every((query) => query.length < 1_000));
});

test('a datapoint without a clock is as old as its arrival', () => {
  assert.equal(instantOf({ value: 1, date_received: at(5) }), now - 5);
  assert.equal(instantOf({ value: 1, timestamp: at(9), date_received: at(5) }), now - 9);
  assert.equal(instantOf({ value: 1, timestamp: 'nonsense' }), undefined);
  assert.equal(instantOf(undefined), undefined);
});

test('a device is as fresh as its newest sensor', () => {
  const sensors = [
    { id: 'a', last_value: { value: 1, timestamp: at(2 * staleAfterMs) } },
    { id: 'b', last_value: { value: 1, timestamp: at(1_000) } },
    { id: 'c' },
  ];
  assert.equal(lastHeardAt(aDevice({ sensors })), now - 1_000);
});

test('silence begins after the limit, and never having spoken is no silence', () => {
  assert.equal(freshnessOf(now - staleAfterMs, now), 'fresh');
  assert.equal(freshnessOf(now - staleAfterMs - 1, now), 'stale');
  assert.equal(freshnessOf(undefined, now), 'never');
});

test('devices that fell silent come first', () => {
  const heard = (id: string, agoMs: number): Device =>
    aDevice({ id, sensors: [{ id: 's', last_value: { value: 1, timestamp: at(agoMs) } }] });
  const devices = [heard('a', 0), heard('b', 2 * staleAfterMs), aDevice({ id: 'c' })];
  const { silent, others } = attentionFirst(devices, now);
  assert.deepEqual([silent.map(({ id }) => id), others.map(({ id }) => id)], [['b'], ['a', 'c']]);
});

test('an id is made of a name in any language that has Latin letters', () => {
  assert.equal(idFromName('Champ n° 3 – maïs'), 'Champ-n-3-mais');
  assert.equal(idFromName('  --  '), '');
  assert.equal(idFromName('x'.repeat(300)).length, 60);
});

test('a name in other letters has an id too, which its number alone does not make', () => {
  const names = ['مستشعر الرطوبة', 'كاشف', 'ማሳ', 'حقل 3', 'شارع 3', '🌽🌽', '💧'];
  const ids = names.map(idFromName);
  assert.ok(ids.every(isId), ids.join());
  assert.equal(new Set(ids).size, names.length, ids.join());
  assert.match(idFromName('حقل 3'), /^3-/);
  assert.equal(idFromName('12'), '12');
  assert.equal(usernameFrom('كاشف'), '');
});

test('a username is proposed for a name as people type it', () => {
  assert.equal(usernameFrom('fatou diop'), 'fatou.diop');
  assert.equal(usernameFrom(' Aïssatou  N’Diaye '), 'aissatou.n.diaye');
  assert.equal(usernameFrom('!'), '');
});

test('ids are checked as the service checks them', () => {
  for (const id of ['TC1', 'a.b_c-d', '!', 'x'.repeat(256)]) assert.ok(isId(id), id);
  for (const id of ['', 'a b', 'a/b', 'a#', 'a%', 'ä', "a'b", 'a\\b', 'x'.repeat(257)]) {
    assert.ok(!isId(id), id);
  }
});

test('a unit shows as the vocabulary says, else as it is', () => {
  const path = new URL('../../src/wire/vocabulary/units.json', import.meta.url);
  const terms = JSON.parse(readFileSync(path, 'utf8')) as readonly Term[];
  assert.ok(terms.length > 50);
  for (const { id, label } of terms) {
    // A label that only repeats the id is no way to write a unit.
    if (id === 'BeatPerMinute') assert.equal(unitSymbol(id), 'bpm');
    else assert.equal(unitSymbol(id), label, id);
  }
  assert.equal(unitSymbol('furlong'), 'furlong');
  assert.equal(unitSymbol('constructor'), 'constructor');
  assert.equal(unitSymbol(undefined), '');
});

const grants = (scopes: readonly string[]): MyGrants => ({
  given: [],
  received: [{ kind: 'device', resource: 'pond', owner: 'ama', scopes }],
});
const kofi = { username: 'kofi', isAdmin: false, grants: undefined };

test('owner and admin may do all, and share', () => {
  const device = aDevice({ visibility: 'private' });
  for (const who of [
    { ...kofi, username: 'ama' },
    { ...kofi, isAdmin: true },
  ]) {
    assert.ok(Object.values(deviceRights(device, who)).every(Boolean));
  }
});

test('a stranger sees and feeds a public device, and nothing of a private one', () => {
  const seen = deviceRights(aDevice(), kofi);
  assert.deepEqual(
    [seen.seesData, seen.sends, seen.sets, seen.changes, seen.deletes],
    [true, true, false, false, false],
  );
  const hidden = deviceRights(aDevice({ visibility: 'private' }), kofi);
  assert.ok(Object.values(hidden).every((may) => !may));
});

test('a grant allows what it says, on that device alone', () => {
  const who = { ...kofi, grants: grants(['devices-data:view', 'devices:update']) };
  const shared = deviceRights(aDevice({ visibility: 'private' }), who);
  assert.deepEqual(
    [shared.seesData, shared.sends, shared.changes, shared.deletes, shared.shares],
    [true, false, true, false, false],
  );
  const other = deviceRights(aDevice({ id: 'field', visibility: 'private' }), who);
  assert.equal(other.seesData, false);
});

test('what a guest made anybody may change, and nobody shares', () => {
  const rights = deviceRights(aDevice({ owner: 'guest' }), { ...kofi, username: undefined });
  assert.deepEqual([rights.changes, rights.deletes, rights.shares], [true, true, false]);
});

test('scopes of devices, gateways and projects have the same words', () => {
  assert.equal(scopeWord('devices-data:create'), 'data-create');
  assert.equal(scopeWord('gateways:update'), 'update');
  assert.equal(scopeWord('devices:fly'), undefined);
});

test('any grant lets its holder see the thing', () => {
  assert.deepEqual(partScopes(['devices-data:create']), {
    may: ['view', 'data-create'],
    mayNot: ['data-view', 'update', 'delete'],
  });
  assert.deepEqual(partScopes([]).may, []);
});

test('a profile goes through the form and back unchanged', () => {
  const profile = {
    firstName: 'Ama',
    email: 'ama@example.org',
    phone: ['+233201234567', '+233207654321'],
    address: ['12, High Street, Accra'],
    twitter: ['amamensah'],
  };
  const user = { id: 'u', createdTime: 0, username: 'ama', ...profile };
  const message = profileMessage(draftOf(user), { removesEmpty: false });
  assert.deepEqual(message, profile);
});

test('fields left empty are left out, or removed', () => {
  assert.deepEqual(profileMessage(emptyProfile, { removesEmpty: false }), {});
  const removed = profileMessage({ ...emptyProfile, twitter: '@ama; ' }, { removesEmpty: true });
  assert.deepEqual(removed['twitter'], ['ama']);
  assert.equal(removed['email'], null);
});
