import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../mqtt/mqtt-clients.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { createPage, type PageReply, type PageRequest } from './browser-page.ts';

const origin = 'https://farm.example';
const json = { 'Content-Type': 'application/json' };
const text = { 'Content-Type': 'text/plain;charset=utf-8' };
let service: Service;
let page: (request: PageRequest) => Promise<PageReply>;

before(async () => {
  service = await startService();
  await service.tokenOf('ama');
  page = createPage(service.url, origin);
});

after(() => service[Symbol.asyncDispose]());

/** The headers of a known app, which sends one that only servers should. */
async function appHeaders(version: string): Promise<Readonly<Record<string, string>>> {
  const reply = await page({
    method: 'POST',
    path: `/api/${version}/auth/token`,
    headers: { ...json, 'Access-Control-Allow-Origin': '*' },
    body: JSON.stringify({ username: 'ama', password: passwordOf('ama') }),
  });
  assert.equal(reply.status, 200, reply.text);
  return { Authorization: `Bearer ${reply.text}`, 'Access-Control-Allow-Origin': '*' };
}

const words = {
  v1: { devices: 'sensors', sensors: 'measurements', action: 'notification' },
  v2: { devices: 'devices', sensors: 'sensors', action: 'action' },
};

for (const version of ['v1', 'v2'] as const) {
  test(`a page of another origin uses every method of ${version}`, async () => {
    const { devices, sensors, action } = words[version];
    const headers = await appHeaders(version);
    const root = `/api/${version}`;
    const thing = `${root}/${devices}/page-${version}`;
    const send = async (method: string, path: string, body?: string, type = json) => {
      const all = { ...headers, ...(body !== undefined && type) };
      const reply = await page({
        method,
        path,
        headers: all,
        ...(body !== undefined && { body }),
      });
      const context = `${method} ${path} ${reply.status} ${reply.text}`;
      assert.ok(reply.status === 200 || (version === 'v2' && reply.status === 204), context);
      return reply;
    };
    const device = { id: `page-${version}`, [sensors]: [{ id: 'TC1' }] };
    await send('POST', `${root}/${devices}`, JSON.stringify(device));
    await send('PUT', `${thing}/name`, 'Étang', text);
    await send('POST', `${thing}/${sensors}/TC1/value`, '25', text);
    assert.equal(JSON.parse((await send('GET', thing)).text).name, 'Étang');
    assert.equal((await send('HEAD', thing)).text, '');
    const notification = {
      condition: { [devices]: [device.id], [sensors]: ['TC1'], expression: 'TC1 > 1000' },
      [action]: { usernames: ['ama'], channels: ['sms'], message: 'hot' },
    };
    const made = await send('POST', `${root}/notifications`, JSON.stringify(notification));
    await send('PATCH', `${root}/notifications/${made.text}`, '{"throttling":60}');
    await send('DELETE', `${root}/notifications/${made.text}`);
    await send('DELETE', thing);
  });

  test(`a page of another origin may read why ${version} refused it`, async () => {
    const root = `/api/${version}`;
    const { devices } = words[version];
    const expired = { Authorization: 'Bearer of-yesterday' };
    const large = `{"id":"${'a'.repeat(1_100_000)}"}`;
    const refusals: readonly (readonly [number, PageRequest])[] = [
      [400, { method: 'POST', path: `${root}/${devices}`, headers: json, body: '{' }],
      [401, { path: `${root}/${devices}`, headers: expired }],
      [404, { path: `${root}/${devices}/none` }],
      [404, { path: `${root}/nothing/like/this` }],
      [405, { method: 'PATCH', path: `${root}/${devices}` }],
      [413, { method: 'POST', path: `${root}/${devices}`, headers: json, body: large }],
    ];
    for (const [status, request] of refusals) {
      const reply = await page(request);
      assert.equal(reply.status, status, reply.text);
      assert.match(String(reply.header('Content-Type')), /^application\/json/);
      assert.ok((JSON.parse(reply.text) as { description: string }).description.length > 0);
    }
  });

  test(`a page of another origin turns the pages of a list of ${version}`, async () => {
    const { devices } = words[version];
    const root = `/api/${version}/${devices}`;
    const ids = [1, 2, 3, 4, 5].map((number) => `list-${version}-${number}`);
    for (const id of ids) {
      await page({ method: 'POST', path: root, headers: json, body: JSON.stringify({ id }) });
    }
    const found: string[] = [];
    let next: string | undefined = `${root}?q=id~=^list-${version}-&limit=2`;
    while (next !== undefined && found.length < ids.length) {
      const reply: PageReply = await page({ path: next });
      assert.equal(reply.header('X-Total-Count'), '5');
      found.push(...(JSON.parse(reply.text) as { id: string }[]).map(({ id }) => id));
      const link = /<([^>]*)>; *rel="?next"?/.exec(reply.header('Link') ?? '')?.[1];
      next = link === undefined ? undefined : new URL(link, reply.url).href;
    }
    assert.deepEqual(found, ids);
    assert.equal(next, undefined, 'the last page names no next one');
  });
}

test('a page of another origin follows values live over MQTT in a WebSocket', async () => {
  const device = { id: 'live', sensors: [{ id: 'TC1' }] };
  const path = '/api/v2/devices';
  await page({ method: 'POST', path, headers: json, body: JSON.stringify(device) });
  const url = `${service.url.replace('http', 'ws')}/websocket`;
  await using client = await connect(service, { url, wsOptions: { origin }, protocolVersion: 4 });
  await client.subscribe('devices/live/#', 0);
  await page({ method: 'POST', path: `${path}/live/sensors/TC1/value`, headers: text, body: '25' });
  await client.got(1);
  assert.deepEqual(client.texts, ['devices/live/sensors/TC1/value {"value":"25"}']);
});
