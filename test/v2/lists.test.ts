import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
const count = 1_001;
const ids = Array.from({ length: count }, (_, index) => `dev-${(index * 10) % count}`);

before(async () => {
  service = await startService();
  for (const id of ids) {
    const json = { id, name: `n${id.length}` };
    assertDone(await service.call({ method: 'POST', path: '/devices', json }));
  }
});

after(() => service[Symbol.asyncDispose]());

async function list(query: string): Promise<{ reply: Reply; found: readonly string[] }> {
  const reply = await service.call({ path: `/devices${query}` });
  assert.equal(reply.status, 200, `${query}: ${reply.text.slice(0, 200)}`);
  return { reply, found: (reply.json as { id: string }[]).map(({ id }) => id) };
}

/** The targets of a Link header by their relation. */
function linksOf(reply: Reply): ReadonlyMap<string, string> {
  const header = reply.headers.get('link') ?? '';
  const links = [...header.matchAll(/<([^>]*)>\s*;\s*rel="?(\w+)"?/g)];
  return new Map(links.map(([, target = '', relation = '']) => [relation, target]));
}

test('a list has 20 devices unless asked for more, in the order of their creation', async () => {
  const { reply, found } = await list('');
  assert.deepEqual(found, ids.slice(0, 20));
  assert.equal(reply.headers.get('x-total-count'), '1001');
  assert.deepEqual((await list('?limit=')).found, ids.slice(0, 20));
});

test('limit and offset cut a page out of the list', async () => {
  for (const [limit, offset] of [
    [1, 0],
    [100, 100],
    [7, 994],
    [20, 1_000],
    [20, 1_001],
    [20, 999_999],
  ] as const) {
    const { reply, found } = await list(`?limit=${limit}&offset=${offset}`);
    assert.deepEqual(found, ids.slice(offset, offset + limit), `${limit} from ${offset}`);
    assert.equal(reply.headers.get('x-total-count'), '1001');
  }
});

test('a limit above 1 000 is taken as 1 000', async () => {
  for (const limit of ['1000', '1001', '5000', '99999999999']) {
    const { found } = await list(`?limit=${limit}`);
    assert.deepEqual(found, ids.slice(0, 1_000), limit);
  }
});

test('whoever follows Link to the end sees every device once', async () => {
  for (const query of ['?limit=300', '?limit=90&offset=0&q=name==n7', '?limit=1000']) {
    const { found: first, reply } = await list(query);
    const seen = [...first];
    let next = linksOf(reply).get('next');
    while (next !== undefined && seen.length <= count) {
      const target = new URL(next, `${service.url}/api/v2/devices`);
      assert.equal(target.origin, service.url);
      const page = await service.call({ path: `/${target.pathname}${target.search}` });
      seen.push(...(page.json as { id: string }[]).map(({ id }) => id));
      next = linksOf(page).get('next');
    }
    const wanted = query.includes('n7') ? ids.filter((id) => id.length === 7) : ids;
    assert.deepEqual(seen, wanted, query);
  }
});

test('Link leads to the first, previous and last page; one page has none', async () => {
  const { reply } = await list('?limit=100&offset=300');
  const offsets = [...linksOf(reply)].map(([relation, target]) => [
    relation,
    new URL(target, service.url).searchParams.get('offset'),
  ]);
  assert.deepEqual(Object.fromEntries(offsets), {
    first: '0',
    prev: '200',
    next: '400',
    last: '1000',
  });
  const { reply: whole } = await list('?q=id==dev-5');
  assert.equal(whole.headers.get('link'), null);
  assert.equal(whole.headers.get('x-total-count'), '1');
});

test('limits and offsets that are no whole numbers from 0 are refused by name', async () => {
  for (const name of ['limit', 'offset']) {
    for (const value of [
      '-1',
      '1.5',
      'abc',
      '1e3',
      '0x10',
      'NaN',
      'Infinity',
      '%20',
      '1,2',
      '+5',
    ]) {
      const reply = await service.call({ path: `/devices?${name}=${value}` });
      assertRefused(reply, 400, { saying: new RegExp(name), of: `${name}=${value}` });
    }
  }
});

test('unknown parameters are ignored', async () => {
  assert.deepEqual((await list('?colour=red&limit=2&_=1')).found, ids.slice(0, 2));
});

test('a list leaves long texts of meta out where that is asked for, a device never', async () => {
  const photo = 'x'.repeat(1_001);
  const meta = { photo, note: 'n'.repeat(1_000), deep: { photo }, tags: ['a'], 0: 'zero' };
  const short = { note: meta.note, deep: meta.deep, tags: ['a'], 0: 'zero' };
  const as = service.as('akua');
  const sensors = [{ id: 'T' }];
  const made = [
    { id: 'with-photo', meta, sensors },
    { id: 'with-text', meta: photo, sensors },
    { id: 'with-none', sensors },
  ];
  for (const json of made) assertDone(await as({ method: 'POST', path: '/devices', json }));
  const device_ids = made.map(({ id }) => id);
  const project = await as({ method: 'POST', path: '/projects', json: { name: 'P', device_ids } });
  const q = encodeURIComponent("owner=='akua'");
  const metasOf = (devices: unknown) =>
    (devices as readonly { readonly meta?: unknown }[]).map((device) => device.meta);
  for (const [asked, first] of [
    ['', meta],
    ['&meta=whole', meta],
    ['&meta=short', short],
  ] as const) {
    // A text of its own is whatever a device keeps there.
    const expected = [first, photo, undefined];
    const { json } = await as({ path: `/devices?q=${q}${asked}` });
    assert.deepEqual(metasOf(json), expected, asked);
    const whole = await as({ path: `/projects/${project.text}?full=true${asked}` });
    const { devices } = whole.json as { readonly devices: unknown };
    assert.deepEqual(metasOf(devices), expected, asked);
  }
  const one = await as({ path: '/devices/with-photo' });
  assert.deepEqual((one.json as { readonly meta: unknown }).meta, meta);
  assertRefused(await as({ path: '/devices?meta=little' }), 400);
});
