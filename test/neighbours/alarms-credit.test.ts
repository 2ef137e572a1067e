import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../service.ts';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';

const phone = ['+255712345678'];
/** A provider that costs; it tells the log what it would have sent. */
const environment = { KIPIMO_SMS_URL: 'log:' };

type Send = (method: string, path: string, json?: unknown) => Promise<Reply>;

async function person(world: Neighbourhood, name: string): Promise<Send> {
  const token = await world.tokenOf(name);
  return (method, path, json) => world.call({ method, path, token, json });
}

/** How many text messages of a user the provider took. */
const textsOf = (world: Neighbourhood, username: string): number =>
  world.process
    .output()
    .split('\n')
    .filter((line) => line.includes('a message was due') && line.includes('"channel":"sms"'))
    .filter((line) => line.includes(`"username":"${username}"`)).length;

async function creditOf(send: Send): Promise<unknown> {
  return ((await send('GET', '/users/me')).json as { sms_credit?: unknown }).sms_credit;
}

/** As an administrator does, who vouches for the number. */
async function prove(world: Neighbourhood, send: Send): Promise<void> {
  const { id } = (await send('GET', '/users/me')).json as { id: string };
  const admin = await person(world, 'admin');
  assert.equal((await admin('PUT', `/users/${id}`, { phone })).status, 204);
}

/** Files so many text messages to oneself, and waits until each is sent or failed. */
async function textOneself(send: Send, username: string, count: number): Promise<Reply[]> {
  const filed: string[] = [];
  for (let index = 0; index < count; index += 20) {
    const json = { username, channel: 'sms', message: 'hello' };
    const batch = Array.from({ length: 20 }, () => send('POST', '/socials', json));
    for (const { status, text } of await Promise.all(batch)) {
      assert.equal(status, 200, text);
      filed.push(text);
    }
  }
  return Promise.all(filed.map((id) => settled(send, id)));
}

async function settled(send: Send, id: string): Promise<Reply> {
  for (;;) {
    const reply = await send('GET', `/socials/${id}`);
    assert.equal(reply.status, 200, reply.text);
    if ((reply.json as { status?: string }).status !== 'pending') return reply;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('a new account texts proven numbers only, as often as its credit', async () => {
  await using world = await startNeighbourhood({ environment });
  assert.match(world.process.output(), /strangers can sign up and send/, 'nobody was warned');
  await world.attack(async () => {
    const eve = await person(world, 'eve');
    assert.equal((await eve('PUT', '/users/me', { phone })).status, 204);
    for (const { text } of await textOneself(eve, 'eve', 100)) assert.match(text, /not proven/);
    await eve('POST', '/users/me/channels/sms/test');
    assert.equal(textsOf(world, 'eve'), 0);
    assert.equal(await creditOf(eve), 20, 'what was not sent costs nothing');
    await prove(world, eve);
    const texts = await textOneself(eve, 'eve', 60);
    const sent = texts.filter(({ json }) => (json as { status?: string }).status === 'sent');
    assert.deepEqual([sent.length, textsOf(world, 'eve'), await creditOf(eve)], [20, 20, 0]);
    const others = texts.filter((reply) => !sent.includes(reply));
    for (const { text } of others) assert.match(text, /sms_credit for the channel sms is used up/);
  });
});

test('a device handed over spends no credit of its receiver, and its grants end', async () => {
  await using world = await startNeighbourhood({ environment });
  const ama = await person(world, 'ama');
  await prove(world, ama);
  const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };
  const rule = { condition: { sensors: ['TC1'] }, action, throttling: 0 };
  const made = await ama('POST', '/notifications', rule);
  assert.equal(made.status, 200, made.text);
  const deliveries = async () =>
    (await ama('GET', `/notifications/${made.text}/deliveries`)).json as readonly unknown[];
  const push = (send: Send, id: string, value: number) =>
    send('POST', `/devices/${id}/sensors/TC1/value`, { value });
  await world.attack(async () => {
    const [eve, kofi] = [await person(world, 'eve'), await person(world, 'kofi')];
    for (let index = 0; index < 10; index += 1) {
      const id = `gift-${index}`;
      const device = { id, visibility: 'public', sensors: [{ id: 'TC1' }] };
      assert.equal((await eve('POST', '/devices', device)).status, 204);
      const rights = ['device:update', 'device:view'];
      const shared = await eve('PUT', `/devices/${id}/grants/kofi`, rights);
      assert.ok(shared.status < 300, shared.text);
      assert.equal((await kofi('PUT', `/devices/${id}/name`, 'mine')).status, 204);
      const given = await world.call({
        ...{ method: 'PUT', path: `/devices/${id}/owner`, body: 'ama' },
        token: await world.tokenOf('eve'),
      });
      assert.equal(given.status, 204, given.text);
      // Whoever still pushes to it, the owner's board among them.
      for (const send of [eve, kofi]) await push(send, id, 1);
      assert.equal((await push(ama, id, 1)).status, 204);
      assert.equal((await eve('PUT', `/devices/${id}/accept`)).status, 403);
      assert.equal((await ama('GET', `/devices/${id}/grants`)).status, 403);
    }
  });
  assert.deepEqual([await deliveries(), textsOf(world, 'ama'), await creditOf(ama)], [[], 0, 20]);
  // What its receiver accepts is the receiver's own.
  assert.equal((await ama('PUT', '/devices/gift-0/accept')).status, 204);
  assert.deepEqual((await ama('GET', '/devices/gift-0/grants')).json, []);
  const named = await ama('PUT', '/devices/gift-0/name', 'hers');
  assert.equal(named.status, 204);
  assert.equal(
    (await person(world, 'kofi').then((kofi) => kofi('PUT', '/devices/gift-0/name', 'mine')))
      .status,
    403,
  );
  assert.equal((await push(ama, 'gift-0', 2)).status, 204);
  assert.equal((await deliveries()).length, 1);
});
