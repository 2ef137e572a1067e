// In a process of its own: it starts a process, and kills it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { IClientOptions, MqttClient } from 'mqtt';
import { embedded } from '../engine.ts';
import { createCall } from '../service.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';
import { signUp } from './member-processes.ts';

const patienceMs = 15_000;

async function until(isTrue: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < giveUpAt, what());
    await wait(20);
  }
}

/** A process that serves alone, is killed and started again on the same data. */
async function openField(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-wills-'));
  const environment = { KIPIMO_ADMIN_PASSWORD: 'admin-password-1' };
  const start = (): Promise<ServiceProcess> => startProcess({ directory, environment });
  let running = await start();
  t.after(async () => {
    await running[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });
  const ama = await signUp({ call: createCall(running.url) }, 'ama');
  const json = { id: 'field', sensors: [{ id: 's' }] };
  await createCall(running.url)({ method: 'POST', path: '/devices', token: ama, json });
  return {
    directory,
    /** A client that does nothing by itself when its connection ends. */
    async connect(clientId: string, options: IClientOptions = {}): Promise<MqttClient> {
      const { connectAsync } = (await import('mqtt')).default;
      const login = {
        username: 'x',
        password: ama,
        reconnectPeriod: 0,
        protocolVersion: 5,
      } as const;
      const client = await connectAsync(running.mqttUrl, { ...login, clientId, ...options });
      client.on('error', () => undefined);
      return client;
    },
    call: (path: string) => createCall(running.url)({ path, token: ama }),
    async kill(): Promise<void> {
      running.kill('SIGKILL');
      await running.exited;
    },
    async start(): Promise<void> {
      running = await start();
    },
  };
}

type Field = Awaited<ReturnType<typeof openField>>;

const kept: IClientOptions = { clean: false, properties: { sessionExpiryInterval: 3_600 } };

function willOf(payload: string, { delay = 0, retain = false, topic = 'devices/field/gone' } = {}) {
  const properties = { willDelayInterval: delay };
  return { will: { topic, payload: Buffer.from(payload), qos: 1, retain, properties } as const };
}

/** A client whose kept session gets what is published on the topics of the device. */
function listen({ connect }: Field, heard: string[] = []): Promise<MqttClient> {
  return connect('witness', {
    ...kept,
    // Before CONNACK: what waits comes right behind it.
    customHandleAcks: (_topic, message, _packet, done) => {
      heard.push(String(message));
      done(0);
    },
  });
}

/** Only once: a subscription brings what is retained, and not only what comes. */
async function subscribe(field: Field): Promise<void> {
  const witness = await listen(field);
  await witness.subscribeAsync('devices/field/#', { qos: 1 });
  await witness.endAsync();
}

test('a start after a kill publishes the wills of those who were connected, once', async (t) => {
  const field = await openField(t);
  await subscribe(field);
  const polite = await field.connect('polite', willOf('polite'));
  const dropped = await field.connect('dropped', willOf('dropped'));
  await field.connect('late', { ...kept, ...willOf('late', { delay: 3 }) });
  await field.connect('back', { ...kept, ...willOf('back', { delay: 3 }) });
  await field.connect('brief', willOf('brief', { delay: 600 }));
  await field.connect('kept', willOf('kept', { retain: true, topic: 'devices/field/state' }));
  const taken = await field.connect('taken', willOf('taken by the next'));
  await field.connect('taken', willOf('taken'));
  const value = await field.connect(
    'value',
    willOf('7', { topic: 'devices/field/sensors/s/value' }),
  );
  await polite.endAsync();
  dropped.stream.destroy();
  const before: string[] = [];
  const witness = await listen(field, before);
  await until(
    () => before.length > 1,
    () => `it heard ${before}`,
  );
  // What it acknowledged is on disk by then.
  await wait(500);
  await witness.endAsync();
  assert.deepEqual(before.toSorted(), ['dropped', 'taken by the next']);
  assert.deepEqual([taken.connected, value.connected], [false, true]);
  await field.kill();
  await field.start();
  // Within its delay, and with its session: nobody hears of it.
  const back = await field.connect('back', kept);
  const after: string[] = [];
  const again = await listen(field, after);
  const expected = ['brief', 'kept', 'late', 'taken', '{"value":7}'].toSorted();
  await until(
    () => after.length >= expected.length,
    () => `it heard ${after}`,
  );
  assert.ok(after.indexOf('late') > after.indexOf('taken'), `no delay was kept to: ${after}`);
  // Another kill, behind all of them and what was acknowledged.
  await wait(500);
  await field.kill();
  await field.start();
  const last = await field.connect('reader', {});
  last.on('message', (_, payload, { retain }) => after.push(`${payload} ${retain}`));
  await last.subscribeAsync('devices/field/state', { qos: 1 });
  await until(
    () => after.includes('kept true'),
    () => `it heard ${after}`,
  );
  await wait(1_500);
  await (await listen(field, after)).endAsync();
  assert.deepEqual(after.toSorted(), [...expected, 'kept true'].toSorted());
  const values = (await field.call('/devices/field/sensors/s/values')).json as unknown[];
  assert.equal(values.length, 1);
  for (const client of [back, again, last]) client.end(true);
});

test('wills are published once over starts that are killed in the middle', async (t) => {
  const field = await openField(t);
  await subscribe(field);
  const heard: string[] = [];
  const many = Array.from({ length: 200 }, (_, at) => `will ${String(at).padStart(3, '0')}`);
  const topic = 'devices/field/sensors/s/value';
  const values = Array.from({ length: 50 }, (_, at) => `{"value":${100 + at}}`);
  await Promise.all([
    ...many.map((name) => field.connect(name, willOf(name))),
    ...values.map((value) => field.connect(value, willOf(value, { topic }))),
  ]);
  const expected = [...many, ...values].toSorted();
  for (let round = 0; round < 4; round += 1) {
    await field.kill();
    await field.start();
    await wait(round * 10);
  }
  await until(
    async () => {
      await (await listen(field, heard)).endAsync();
      return heard.length >= expected.length;
    },
    () => `it heard ${heard.length}`,
  );
  assert.deepEqual(heard.toSorted(), expected);
  const { json } = await field.call('/devices/field/sensors/s/values?limit=1000');
  assert.equal((json as unknown[]).length, values.length);
});

embedded('a will that cannot be read is set aside, and stops no start', async (t) => {
  const field = await openField(t);
  await subscribe(field);
  await field.connect('broken', willOf('broken'));
  await field.connect('whole', willOf('whole'));
  await field.kill();
  const rows = (change?: string): readonly unknown[] => {
    using database = new DatabaseSync(join(field.directory, 'kipimo.db'));
    if (change !== undefined) database.exec(change);
    return database.prepare('select client_id from mqtt_wills').all().map(Object.values);
  };
  assert.equal(rows("update mqtt_wills set qos = 9 where client_id = 'broken'").length, 2);
  await field.start();
  const heard: string[] = [];
  const witness = await listen(field, heard);
  await until(
    () => heard.length > 0,
    () => 'it heard nothing',
  );
  await wait(500);
  witness.end(true);
  assert.deepEqual([heard, rows()], [['whole'], [['broken']]]);
});
