import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Storage } from '../../src/storage/storage.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Service, type ServiceOptions, startService } from '../service.ts';
import { temporaryStorage } from '../temporary-storage.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone } from './refusal.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const hour = 3_600_000;

function temporaryDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-notify-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

interface Told {
  readonly status: string;
  readonly attempts: number;
  readonly reason?: string;
  readonly next_attempt?: string;
}

/** A service in which ama has a telephone and a device d with the sensors TC1 and SM1. */
async function prepared(service: Service): Promise<Service> {
  const ama = service.as('ama');
  assertDone(await ama({ method: 'PUT', path: '/users/me', json: { phone: ['00233 201234567'] } }));
  const json = { id: 'd', sensors: [{ id: 'TC1' }, { id: 'SM1' }] };
  assertDone(await ama({ method: 'POST', path: '/devices', json }));
  return service;
}

const action = { usernames: ['ama'], channels: ['sms'], message: 'hot {TC1}' };

async function notify(service: Service, condition: object, fields: object = {}): Promise<string> {
  const json = { condition, action, ...fields };
  const reply = await service.as('ama')({ method: 'POST', path: '/notifications', json });
  assert.equal(reply.status, 200, reply.text);
  return `/notifications/${reply.text}`;
}

async function push(service: Service, value: unknown, sensor = 'TC1'): Promise<void> {
  const path = `/devices/d/sensors/${sensor}/value`;
  assertDone(await service.as('ama')({ method: 'POST', path, json: { value } }));
}

async function deliveries(service: Service, path: string): Promise<readonly Told[]> {
  return (await service.as('ama')({ path: `${path}/deliveries` })).json as readonly Told[];
}

/** Asks until the newest delivery is as wanted; the test runner ends those who ask in vain. */
async function untilDelivery(
  service: Service,
  path: string,
  isWanted: (newest: Told) => boolean,
): Promise<Told> {
  for (;;) {
    const [newest] = await deliveries(service, path);
    if (newest !== undefined && isWanted(newest)) return newest;
  }
}

/** A service whose tokens outlive the clocks of the tests. */
const start = ({ environment, ...others }: ServiceOptions): Promise<Service> =>
  startService({ ...others, environment: { KIPIMO_TOKEN_TTL_S: '864000', ...environment } });

const options = { timeout: 60_000 };

test('what a provider cannot take is tried again with growing pauses', options, async () => {
  const clock = createManualClock(noon);
  const channels = createRecordingChannels();
  channels.answer({ kind: 'retry', reason: 'busy' });
  await using service = await prepared(await start({ clock, channels: channels.open }));
  const path = await notify(service, { devices: ['d'], sensors: ['TC1'] });
  await push(service, 1);
  let pause = 0;
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const told = await untilDelivery(
      service,
      path,
      ({ attempts, reason, next_attempt: next }) =>
        attempts === attempt && reason === 'busy' && Date.parse(next ?? '') - clock.now() < 90_000,
    );
    const next = Date.parse(told.next_attempt ?? '') - clock.now();
    assert.ok(next > pause, `attempt ${attempt} waits ${next} ms after ${pause}`);
    pause = next;
    if (attempt === 4) channels.answer({ kind: 'sent' });
    clock.advance(next);
  }
  const sent = await untilDelivery(service, path, ({ status }) => status === 'sent');
  assert.equal(sent.attempts, 5);
  assert.deepEqual(new Set(channels.sent.map(({ message }) => message.deliveryId)).size, 1);
  assert.equal(channels.sent[0]?.message.to.phone, '+233201234567');
});

test(
  'a value beside its limit is written with all its digits on every channel',
  options,
  async () => {
    const names = ['sms', 'email', 'voice', 'webhook'] as const;
    const channels = createRecordingChannels(names);
    await using service = await prepared(await start({ channels: channels.open }));
    const json = { email: 'ama@example.org', webhook: 'https://example.org/hook' };
    assertDone(await service.as('ama')({ method: 'PUT', path: '/users/me', json }));
    const fields = { action: { ...action, channels: names, message: '{TC1}, limit 100' } };
    await notify(service, { devices: ['d'], sensors: ['TC1'], expression: 'TC1 < 100' }, fields);
    await push(service, 99.996);
    await channels.until(names.length);
    assert.deepEqual(
      new Set(channels.sent.map(({ text }) => text)),
      new Set(['99.996, limit 100']),
    );
    assert.deepEqual(channels.sent.map(({ channel }) => channel).toSorted(), names.toSorted());
  },
);

test('a delivery is given up after a day, and says why', options, async () => {
  const clock = createManualClock(noon);
  const channels = createRecordingChannels();
  channels.answer({ kind: 'retry', reason: 'down' });
  await using service = await prepared(await start({ clock, channels: channels.open }));
  const path = await notify(service, { devices: ['d'], sensors: ['TC1'] });
  await push(service, 1);
  await untilDelivery(service, path, ({ reason }) => reason === 'down');
  clock.advance(24 * hour);
  const told = await untilDelivery(service, path, ({ status }) => status === 'failed');
  assert.equal(told.reason, 'given up after 2 tries: down');
});

test('who cannot be reached, or not be paid for, is told at once', options, async () => {
  const channels = createRecordingChannels();
  await using service = await prepared(await start({ channels: channels.open }));
  await service.tokenOf('kofi');
  const { json: me } = await service.as('ama')({ path: '/users/me' });
  const credit = `/users/${(me as { id: string }).id}/sms_credit`;
  assertDone(await service.as('admin')({ method: 'PUT', path: credit, body: '1' }));
  const usernames = ['kofi', 'nobody'];
  const unknown = await notify(
    service,
    { devices: ['d'], sensors: ['SM1'] },
    { action: { ...action, usernames, channels: ['email', 'voice'] } },
  );
  await push(service, 1, 'SM1');
  await untilDelivery(service, unknown, () => true);
  for (;;) {
    const told = await deliveries(service, unknown);
    if (told.some(({ status }) => status === 'pending')) continue;
    assert.deepEqual(told.map(({ reason }) => reason).reverse(), [
      'kofi has no e-mail address in the profile',
      'the channel voice is not configured: KIPIMO_VOICE_URL names its provider',
      'there is no user nobody',
      'the channel voice is not configured: KIPIMO_VOICE_URL names its provider',
    ]);
    break;
  }
  const path = await notify(service, { devices: ['d'], sensors: ['TC1'] });
  await push(service, 1);
  await untilDelivery(service, path, ({ status }) => status === 'sent');
  await push(service, 2);
  const broke = await untilDelivery(service, path, ({ status }) => status === 'failed');
  assert.equal(broke.reason, 'the sms_credit for the channel sms is used up');
  const tested = { method: 'POST', path: '/users/me/channels/sms/test' };
  assert.match((await service.as('ama')(tested)).text, /used up/);
  assert.equal(channels.sent.length, 1);
});

test('windows, clears and waiting messages outlive a restart', options, async (context) => {
  const directory = temporaryDirectory(context);
  const clock = createManualClock(noon);
  const channels = createRecordingChannels();
  channels.answer({ kind: 'retry', reason: 'down' });
  const begin = () => start({ directory, clock, channels: channels.open });
  const paths: string[] = [];
  {
    await using service = await prepared(await begin());
    paths.push(await notify(service, { devices: ['d'], sensors: ['TC1'] }, { throttling: 3600 }));
    paths.push(await notify(service, { devices: ['d'], expression: 'TC1>30 clear TC1<28' }));
    await push(service, 31);
    await push(service, 32);
  }
  await using service = await begin();
  await push(service, 33);
  for (const path of paths) {
    const read = await service.as('ama')({ path });
    assert.equal((read.json as { times_sent: number }).times_sent, 1);
  }
  channels.answer({ kind: 'sent' });
  clock.advance(hour);
  for (const path of paths) await untilDelivery(service, path, ({ status }) => status === 'sent');
});

test('two processes on one store fire once per window and send once', options, async () => {
  const clock = createManualClock(noon);
  const shared = await temporaryStorage();
  const channels = createRecordingChannels();
  const wrapStorage = ({ close }: Storage): Storage => ({ ...shared, close });
  const begin = () => start({ clock, channels: channels.open, wrapStorage });
  await using one = await prepared(await begin());
  const path = await notify(one, { devices: ['d'], sensors: ['TC1'] }, { throttling: 60 });
  await using other = await begin();
  const token = await one.tokenOf('ama');
  const request = { method: 'POST', path: '/devices/d/sensors/TC1/value', token };
  const round = () =>
    Promise.all(
      [one, other, one, other].map((service, value) =>
        service.call({ ...request, json: { value } }),
      ),
    );
  for (const reply of await round()) assertDone(reply);
  clock.advance(60_000);
  await round();
  await untilDelivery(one, path, ({ status }) => status === 'sent');
  await channels.until(2);
  assert.equal((await deliveries(one, path)).length, 2);
  assert.equal(channels.sent.length, 2);
});

test('silence is told once, by time, until the sensor is heard again', options, async () => {
  const clock = createManualClock(noon);
  const channels = createRecordingChannels();
  await using service = await prepared(await start({ clock, channels: channels.open }));
  const message = '{id} was last {TC1}';
  const silent = { devices: ['d'], expression: 'silent(TC1, 2h)' };
  const path = await notify(service, silent, { action: { ...action, message } });
  await push(service, 7);
  await push(service, 1, 'SM1');
  clock.advance(2 * hour);
  await channels.until(1);
  clock.advance(5 * hour);
  await push(service, 8);
  clock.advance(2 * hour - 1);
  await push(service, 9);
  clock.advance(2 * hour);
  await channels.until(2);
  const texts = channels.sent.map(({ text }) => text);
  assert.deepEqual(texts, ['TC1 was last 7', 'TC1 was last 9']);
  assert.equal((await deliveries(service, path)).length, 2);
});

test('a message between users leaves by the same outbox', options, async () => {
  const channels = createRecordingChannels();
  await using service = await prepared(await start({ channels: channels.open }));
  const json = { username: 'ama', channel: 'sms', message: 'hello' };
  const { text: id } = await service.as('kofi')({ method: 'POST', path: '/socials', json });
  await channels.until(1);
  assert.deepEqual([channels.sent[0]?.username, channels.sent[0]?.text], ['ama', 'hello']);
  for (;;) {
    const { json: told } = await service.as('kofi')({ path: `/socials/${id}` });
    if ((told as Told).status === 'sent') break;
  }
});

test('a new notification is evaluated at once where the service is set to', options, async () => {
  const channels = createRecordingChannels();
  const environment = { KIPIMO_EVALUATE_ON_CREATE: 'true' };
  const started = await start({ channels: channels.open, environment });
  await using service = await prepared(started);
  await push(service, 31);
  await notify(service, { devices: ['d'], expression: 'TC1 > 40' });
  await notify(service, { devices: ['d'], expression: 'TC1 > 30' });
  await channels.until(1);
  assert.deepEqual(
    channels.sent.map(({ text }) => text),
    ['hot 31'],
  );
});

test(
  'a preview tells when a draft would have fired, over a month of minutes',
  options,
  async () => {
    const clock = createManualClock(noon);
    await using service = await prepared(await start({ clock }));
    const since = noon - 30 * 24 * hour;
    const lines = Array.from({ length: 43_200 }, (_, minute) => ({
      value: minute % 1_440 === 720 ? 31 : 20,
      timestamp: new Date(since + minute * 60_000).toISOString(),
    }));
    for (let from = 0; from < lines.length; from += 20_000) {
      const json = lines.slice(from, from + 20_000);
      const path = '/devices/d/sensors/TC1/values';
      assertDone(await service.as('ama')({ method: 'POST', path, json }));
    }
    const ask = async (expression: string, fields: object = {}) => {
      const notification = { condition: { devices: ['d'], expression }, action, ...fields };
      const json = { notification, from: new Date(since).toISOString() };
      const path = '/notifications/preview';
      const reply = await service.as('ama')({ method: 'POST', path, json });
      assert.equal(reply.status, 200, reply.text);
      return reply.json as { fired: number; throttled: number; firings: { message: string }[] };
    };
    const hot = await ask('TC1 > 30');
    assert.deepEqual([hot.fired, hot.firings.length, hot.firings[0]?.message], [30, 30, 'hot 31']);
    const rare = await ask('TC1 > 30', { throttling: 2 * 86_400 });
    assert.deepEqual([rare.fired, rare.throttled], [15, 15]);
    assert.equal((await ask('silent(TC1, 1h)')).fired, 0);
    assert.equal((await ask('TC1 < 30 for 12h')).fired > 0, true);
    const guest = await service.call({ method: 'POST', path: '/notifications/preview', json: {} });
    assert.equal(guest.status === 400 || guest.status === 403, true);
  },
);
