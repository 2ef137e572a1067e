import assert from 'node:assert/strict';
import { request } from 'node:http';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const clock = createManualClock(start);
let service: Service;

interface Sample {
  readonly index: number;
  readonly owner: string;
  readonly fields: {
    readonly id: string;
    readonly name?: string;
    readonly gateway_id?: string;
    readonly domain?: string;
    readonly visibility?: 'public' | 'private';
    readonly location?: { readonly latitude: number; readonly longitude: number };
    readonly meta?: { readonly crop: string; readonly depth: { readonly cm: number } };
    readonly deployed?: boolean;
  };
  readonly values: Readonly<Record<string, unknown>>;
}

/** Sixty devices in which every field is there and absent, alone and beside others. */
function sample(index: number): Sample {
  const pick = <Value>(...choices: readonly Value[]) => choices[index % choices.length];
  const even = index % 2 === 0;
  const name = pick(`Field ${index}`, `Station@north.${index}`, "it's", undefined, `東京 ${index}`);
  const fields = {
    id: `dev-${String(index).padStart(2, '0')}`,
    name: index === 25 ? '25' : index === 30 ? '25.0' : name,
    gateway_id: pick('gw-1', 'gw:2@x', undefined, undefined),
    domain: pick('farm.north', 'farm.south', 'a,b;c', undefined, undefined, undefined),
    visibility: pick('private', 'public', undefined, undefined, undefined, undefined, undefined),
    location: even ? { latitude: index - 30, longitude: 2 * index } : undefined,
    meta: pick({ crop: even ? 'maize' : 'rice', depth: { cm: index } }, undefined, undefined),
    deployed: pick(true, false, undefined, undefined),
  };
  const values = {
    TC1: even ? undefined : index - 10,
    SM1: index % 5 === 0 ? String(index) : undefined,
    STATE: index % 5 === 3 ? (even ? 'ok' : 'error') : undefined,
    'urn:t': index % 15 === 0 ? index : undefined,
  };
  // JSON leaves out what is undefined.
  return {
    index,
    owner: pick('ama', 'kofi', 'guest') ?? '',
    fields: JSON.parse(JSON.stringify(fields)),
    values: JSON.parse(JSON.stringify(values)),
  };
}

const samples = Array.from({ length: 60 }, (_, index) => sample(index));

/** All that ama may see: not what is private to kofi; what is a guest's is public. */
const visible = samples.filter(
  ({ owner, fields }) => owner !== 'kofi' || fields.visibility !== 'private',
);

before(async () => {
  service = await startService({ clock });
  for (const { index, owner, fields, values } of samples) {
    clock.set(start + index * 1_000);
    const as = service.as(owner);
    const sensors = ['TC1', 'SM1', 'STATE', 'urn:t', 'EMPTY'].map((id) => ({ id }));
    assertDone(await as({ method: 'POST', path: '/devices', json: { ...fields, sensors } }));
    for (const [id, value] of Object.entries(values)) {
      const path = `/devices/${fields.id}/sensors/${id}/values`;
      assertDone(await as({ method: 'POST', path, json: { value } }));
    }
  }
});

after(() => service[Symbol.asyncDispose]());

async function found(q: string): Promise<readonly string[]> {
  const path = `/devices?limit=1000&q=${encodeURIComponent(q)}`;
  const reply = await service.as('ama')({ path });
  assert.equal(reply.status, 200, `${q}: ${reply.text}`);
  const ids = (reply.json as { id: string }[]).map(({ id }) => id);
  assert.equal(reply.headers.get('x-total-count'), String(ids.length), q);
  return ids;
}

const idsOf = (chosen: readonly Sample[]) => chosen.map(({ fields }) => fields.id);
const tc1 = ({ values }: Sample) => values['TC1'] as number | undefined;
const second = (text: string) => (Date.parse(text) - start) / 1_000;
const isAmong = (value: unknown, ...choices: readonly unknown[]) => choices.includes(value);

const filters: readonly (readonly [string, (device: Sample) => boolean])[] = [
  ['owner==ama', ({ owner }) => owner === 'ama'],
  ['owner:kofi', ({ owner }) => owner === 'kofi'],
  ['owner==kofi,guest', ({ owner }) => owner !== 'ama'],
  ['owner!=ama', ({ owner }) => owner !== 'ama'],
  ['owner!=ama,kofi', ({ owner }) => owner === 'guest'],
  ['id==dev-08', ({ index }) => index === 8],
  ['id==dev-03,dev-05,nothing', ({ index }) => isAmong(index, 3, 5)],
  ['id==dev-10..dev-19', ({ index }) => index >= 10 && index < 20],
  ['gateway_id==gw-1', ({ fields }) => fields.gateway_id === 'gw-1'],
  ['gateway_id:gw-1', ({ fields }) => fields.gateway_id === 'gw-1'],
  ['gateway_id==gw:2@x', ({ fields }) => fields.gateway_id === 'gw:2@x'],
  ['gateway_id', ({ fields }) => fields.gateway_id !== undefined],
  ['!gateway_id', ({ fields }) => fields.gateway_id === undefined],
  ['domain==farm.north', ({ fields }) => fields.domain === 'farm.north'],
  ["domain=='a,b;c'", ({ fields }) => fields.domain === 'a,b;c'],
  ['domain~=^farm', ({ fields }) => fields.domain?.startsWith('farm') === true],
  ['name==Station@north.1', ({ index }) => index === 1],
  ['name==Field 5', ({ index }) => index === 5],
  ["name=='Field 5'", ({ index }) => index === 5],
  ['name==東京 4', ({ index }) => index === 4],
  ['name~=^Field', ({ fields }) => fields.name?.startsWith('Field') === true],
  ['name~=[45]$', ({ fields }) => /[45]$/.test(fields.name ?? '')],
  ['name~=north|京', ({ fields }) => /north|京/.test(fields.name ?? '')],
  ["name~='^Field [1-3]'", ({ fields }) => /^Field [1-3]/.test(fields.name ?? '')],
  ['!name', ({ fields }) => fields.name === undefined],
  // Names compare as text, with and without quotes, though they look like numbers.
  ['name==25', ({ index }) => index === 25],
  ['name==25.0', ({ index }) => index === 30],
  ["name=='25'", ({ index }) => index === 25],
  ['name>24;name<26', ({ index }) => isAmong(index, 25, 30)],
  ['name==24.9..25', ({ index }) => index === 25],
  [
    'visibility==private',
    ({ owner, fields }) => owner === 'ama' && fields.visibility === 'private',
  ],
  ['visibility==public', (one) => !(one.owner === 'ama' && one.fields.visibility === 'private')],
  ['visibility!=public', ({ owner, fields }) => owner === 'ama' && fields.visibility === 'private'],
  ['deployed==true', ({ fields }) => fields.deployed === true],
  ['deployed==false', ({ fields }) => fields.deployed === false],
  ['!deployed', ({ fields }) => fields.deployed === undefined],
  ['location', ({ fields }) => fields.location !== undefined],
  ['!location', ({ fields }) => fields.location === undefined],
  ['location.latitude>=0', ({ index }) => index % 2 === 0 && index >= 30],
  ['location.latitude<-10', ({ index }) => index % 2 === 0 && index < 20],
  ['location.latitude==-10..10', ({ index }) => index % 2 === 0 && index >= 20 && index <= 40],
  ['location.longitude==8,24', ({ index }) => isAmong(index, 4, 12)],
  ['meta.crop==rice', ({ fields }) => fields.meta?.crop === 'rice'],
  ['meta.depth.cm>=30', ({ fields }) => (fields.meta?.depth.cm ?? -1) >= 30],
  ['meta', ({ fields }) => fields.meta !== undefined],
  ['!meta.crop', ({ fields }) => fields.meta === undefined],
  ['TC1', (device) => tc1(device) !== undefined],
  ['!TC1', (device) => tc1(device) === undefined],
  ['TC1>30', (device) => (tc1(device) ?? -99) > 30],
  ['TC1 > 30', (device) => (tc1(device) ?? -99) > 30],
  ['TC1>=31', (device) => (tc1(device) ?? -99) >= 31],
  ['TC1<-4', (device) => (tc1(device) ?? 99) < -4],
  ['TC1<=-5', (device) => (tc1(device) ?? 99) <= -5],
  ['TC1==5', (device) => tc1(device) === 5],
  ['TC1==5.0', (device) => tc1(device) === 5],
  ['TC1==0..10', (device) => (tc1(device) ?? -1) >= 0 && (tc1(device) ?? 11) <= 10],
  ['TC1==1,3,40..45', (device) => isAmong(tc1(device), 1, 3, 41, 43, 45)],
  ['SM1>20', ({ values }) => Number(values['SM1'] ?? 0) > 20],
  ['SM1==10..20', ({ values }) => isAmong(values['SM1'], '10', '15', '20')],
  ['STATE==error', ({ values }) => values['STATE'] === 'error'],
  ['STATE~=^o', ({ values }) => values['STATE'] === 'ok'],
  ['urn:t>20', ({ values }) => Number(values['urn:t'] ?? 0) > 20],
  ['date_created<2026-03-01T08:00:10Z', ({ index }) => index < 10],
  ['date_created>=2026-03-01T09:00:50+01:00', ({ index }) => index >= 50],
  [
    'date_created==2026-03-01T08:00:20.000Z..2026-03-01T08:00:22.000Z',
    ({ index }) => index >= second('2026-03-01T08:00:20Z') && index <= 22,
  ],
  ['date_modified>2026-03-01T08:00:30', ({ index }) => index > 30],
  [
    'owner==ama;TC1>5;deployed==false',
    (o) => o.owner === 'ama' && (tc1(o) ?? 0) > 5 && o.index % 4 === 1,
  ],
  [' owner == ama ; location ', ({ owner, fields }) => owner === 'ama' && !!fields.location],
];

test('every operator finds the devices it describes, and no other', async () => {
  for (const [q, isWanted] of filters) {
    const wanted = idsOf(visible.filter(isWanted));
    assert.ok(wanted.length > 0 && wanted.length < visible.length, `${q} tells nothing`);
    assert.deepEqual(await found(q), wanted, q);
  }
});

test('what no device has matches nothing; a blank filter lets everything pass', async () => {
  for (const q of [
    'nosuch==1',
    'nosuch',
    'nosuch!=1',
    'nosuch<5',
    'nosuch~=.*',
    'EMPTY',
    'EMPTY>0',
    'STATE>0',
    'STATE<99',
    'location.altitude',
    'meta.constructor',
    '__proto__',
    'toString',
    'owner==AMA',
    'owner==ama;owner==kofi',
  ]) {
    assert.deepEqual(await found(q), [], q);
  }
  for (const q of ['', ' ', ';', '!nosuch', 'owner', 'date_created']) {
    assert.deepEqual(await found(q), idsOf(visible), JSON.stringify(q));
  }
});

test('a list and its filter leave out what the caller may not see', async () => {
  const hidden = samples.filter((device) => !visible.includes(device));
  assert.ok(hidden.length > 0);
  assert.deepEqual(await found(idsOf(hidden).map((id) => `id==${id}`)[0] ?? ''), []);
  const { json } = await service.as('kofi')({ path: '/devices?limit=1000&q=visibility==private' });
  assert.deepEqual(
    (json as { id: string }[]).map(({ id }) => id),
    idsOf(hidden),
  );
  const asAdmin = await service.as('admin')({ path: '/devices?limit=1&q=owner==kofi' });
  assert.equal(asAdmin.headers.get('x-total-count'), '20');
});

/** Sends a target that no client library has touched. */
function getRaw(target: string): Promise<readonly string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  const sent = request(`${service.url}`, { path: target }, (answer) => {
    Array.fromAsync(answer).then((chunks) => {
      const text = Buffer.concat(chunks as Buffer[]).toString();
      resolve((JSON.parse(text) as { id: string }[]).map(({ id }) => id));
    }, reject);
  });
  sent.on('error', reject).end();
  return promise;
}

test('a filter is read percent-encoded, raw and as a form writes it', async () => {
  for (const [raw, index] of [
    ['id==dev-05', 5],
    ['id%3D%3Ddev-05', 5],
    ['id=dev-05', 5],
    ["name=='Field%205'", 5],
    ['name==Field+5', 5],
    ['name%3d%3dField%2b5', undefined],
    ['name==Station@north.1', 1],
    ['TC1>12;TC1<14', 23],
    ['TC1%3E12%3bTC1%3C14', 23],
    ['gateway_id==gw:2@x;id==dev-01', 1],
    ['name==%E6%9D%B1%E4%BA%AC%204', 4],
  ] as const) {
    const wanted = index === undefined ? [] : idsOf(samples.slice(index, index + 1));
    assert.deepEqual(await getRaw(`/api/v2/devices?q=${raw}`), wanted, raw);
    assert.deepEqual(await getRaw(`/api/v2/devices?limit=9&q=${raw}&offset=0`), wanted, raw);
  }
});

test('a malformed filter is refused with a sentence that points at the spot', async () => {
  for (const [q, character] of [
    ['owner==', 8],
    ['==ama', 1],
    ['TC1>', 5],
    ['TC1>;id==1', 5],
    ['owner==ama;TC1>=', 17],
    ['!', 2],
    ["name=='open", 7],
    ['name~=', 7],
    ['name~=(a', 7],
    ['name~=[a', 7],
    ['name~=a{2,1}', 7],
    ['TC1==1..', 9],
    ['TC1==1,', 8],
    ['TC1==,1', 6],
    ["name=='a'b", 10],
  ] as const) {
    const path = `/devices?q=${encodeURIComponent(q)}`;
    const saying = new RegExp(`\\bq\\b.*character ${character}\\b`);
    assertRefused(await service.call({ path }), 400, { saying, of: q });
  }
});

test('a filter too long or with too many tests is refused', async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `a${index}`).join(';');
  for (const q of [`name==${'x'.repeat(5_000)}`, `name~=${'(a+)+'.repeat(1_000)}$`, many]) {
    const reply = await service.call({ path: `/devices?q=${encodeURIComponent(q)}` });
    assertRefused(reply, 400, { saying: /\bq\b/ });
  }
});

// A backtracking engine would need longer than the age of the universe.
test('a pattern made to take forever does not', { timeout: 10_000 }, async () => {
  const name = `${'a'.repeat(1_000)}!`;
  const json = { id: 'bomb', name, sensors: [] };
  assertDone(await service.call({ method: 'POST', path: '/devices', json }));
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^(a*)*b', '^(.*)*$x', '(x+x+)+y', '^(a?){50}$']) {
    const reply = await service.call({
      path: `/devices?q=${encodeURIComponent(`name~=${pattern}`)}`,
    });
    assert.ok(reply.status === 200 || reply.status === 400, `${pattern}: ${reply.status}`);
    if (reply.status === 200) assert.deepEqual(reply.json, [], pattern);
  }
  assertDone(await service.call({ method: 'DELETE', path: '/devices/bomb' }));
});
