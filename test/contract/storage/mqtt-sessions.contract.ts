import assert from 'node:assert/strict';
import fc from 'fast-check';
import { payerAt, payerOfAccount } from '../../../src/domain/budgets/budget.ts';
import { singleBatch } from '../../../src/domain/datapoints/column-batch.ts';
import { type Message, sessionKey } from '../../../src/domain/messaging/message.ts';
import {
  neverExpires,
  type SessionChange,
  type SessionRecord,
  type StoredSession,
  type StoredSessions,
  type Subscription,
} from '../../../src/domain/messaging/session-store.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aDevice,
  aGateway,
  aKey,
  anActuator,
  aSensor,
  aUser,
  deviceId,
  gatewayId,
  keyId,
  noon,
  sensorId,
  userId,
  username,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

export const ana = 'user/id-ana';
const anasKey = 'key/id-ana/k1';

async function withAccounts({ users, credentials, devices, gateways }: Storage): Promise<void> {
  for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
  await credentials.insertKey(aKey('k1', 'ana'));
  const sensors = [aSensor('t'), aSensor('t2')];
  const actuators = [anActuator('t')];
  const owner = username('ana');
  await devices.insert(aDevice('d', { owner, sensors, actuators }));
  await devices.insert(aDevice('d2', { sensors }));
  await gateways.insert(aGateway('g', { owner }));
}

function aSession(identity: string, clientId: string): SessionRecord {
  const key = sessionKey(identity, clientId);
  return { key, identity, clientId, expirySeconds: neverExpires };
}

export const opened = (identity: string, clientId: string): SessionChange => ({
  kind: 'opened',
  session: aSession(identity, clientId),
});

export function aMessage(topic: string, fields: Partial<Message> = {}): Message {
  return { topic, payload: Buffer.from(`of ${topic}`), qos: 1, retain: false, ...fields };
}

function aSubscription(filter: string, fields: Partial<Subscription> = {}): Subscription {
  return {
    filter,
    qos: 1,
    noLocal: false,
    retainAsPublished: false,
    retainHandling: 0,
    identifier: 0,
    ...fields,
  };
}

function queued(message: Message, packetId: number, ...keys: SessionRecord['key'][]) {
  const entries = keys.map((key) => ({ key, packetId, qos: 1, retain: false, identifiers: [] }));
  return { kind: 'queued', message, entries } as SessionChange;
}

const retained = (topic: string): SessionChange => ({
  kind: 'retained',
  message: aMessage(topic, { retain: true }),
});

/** What is kept, in a form that engines share: bytes as plain arrays, sets in order. */
function plain({ sessions, retained: messages }: StoredSessions) {
  return {
    sessions: sessions
      .map((session) => ({
        ...session,
        subscriptions: session.subscriptions.toSorted((a, b) => (a.filter < b.filter ? -1 : 1)),
        queue: session.queue.map(({ message, ...entry }) => ({
          ...entry,
          ...(message !== undefined && { message: plainMessage(message) }),
        })),
      }))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
    retained: messages.map(plainMessage).sort((a, b) => (a.topic < b.topic ? -1 : 1)),
  };
}

export function plainMessage({ payload, properties, ...message }: Message) {
  return {
    ...message,
    payload: [...payload],
    ...(properties !== undefined && { properties: [...properties] }),
  };
}

async function keysOf({ mqttSessions }: Storage): Promise<readonly string[]> {
  return (await mqttSessions.load()).sessions.map(({ key }) => key).sort();
}

async function topicsOf({ mqttSessions }: Storage): Promise<readonly string[]> {
  return (await mqttSessions.load()).retained.map(({ topic }) => topic).sort();
}

async function sessionOf({ mqttSessions }: Storage, clientId: string): Promise<StoredSession> {
  const session = (await mqttSessions.load()).sessions.find((one) => one.clientId === clientId);
  assert.ok(session, `the session of ${clientId} is kept`);
  return session;
}

const promises: Promises = {
  'nothing is kept at first': async ({ mqttSessions }) => {
    assert.deepEqual(await mqttSessions.load(), { sessions: [], retained: [], wills: [] });
  },

  'a session is loaded as it was opened, subscribed and moved': async (storage) => {
    const payer = payerOfAccount('id-ana');
    const session = { ...aSession(ana, 'client ü'), expirySeconds: 60, payer };
    const { key } = session;
    const filters = [
      aSubscription('#', { qos: 2, identifier: 268_435_455, retainHandling: 2 }),
      aSubscription('$share/g/devices/+/sensors/#', { noLocal: true, retainAsPublished: true }),
    ];
    await storage.mqttSessions.apply([
      { kind: 'opened', session },
      { kind: 'subscribed', key, subscription: aSubscription('#') },
      ...filters.map((subscription) => ({ kind: 'subscribed', key, subscription }) as const),
      { kind: 'subscribed', key, subscription: aSubscription('gone') },
      { kind: 'unsubscribed', key, filter: 'gone' },
      { kind: 'moved', key, expirySeconds: 70, leftAt: noon },
    ]);
    const expected = { ...session, expirySeconds: 70, leftAt: noon };
    const empty = { queue: [], received: [] };
    const stored = plain(await storage.mqttSessions.load()).sessions;
    assert.deepEqual(stored, [{ ...expected, subscriptions: filters, ...empty }]);
    await storage.mqttSessions.apply([{ kind: 'moved', key, expirySeconds: 80 }]);
    const moved = await sessionOf(storage, 'client ü');
    assert.deepEqual(['leftAt' in moved, moved.payer], [false, payer]);
    const other = payerAt('10.0.0.1');
    await storage.mqttSessions.apply([{ kind: 'moved', key, expirySeconds: 80, payer: other }]);
    assert.equal((await sessionOf(storage, 'client ü')).payer, other);
  },

  'a session opened anew keeps nothing of the old one': async (storage) => {
    const { key } = aSession('guest', 'c');
    await storage.mqttSessions.apply([
      opened('guest', 'c'),
      { kind: 'subscribed', key, subscription: aSubscription('#') },
      queued(aMessage('t'), 1, key),
      { kind: 'received', key, packetId: 7 },
      opened('guest', 'c'),
    ]);
    const nothing = { subscriptions: [], queue: [], received: [] };
    assert.deepEqual(await sessionOf(storage, 'c'), { ...aSession('guest', 'c'), ...nothing });
  },

  'one client id in two identities is two sessions': async (storage) => {
    await storage.mqttSessions.apply([
      opened('guest', 'c'),
      opened(ana, 'c'),
      opened(anasKey, 'c'),
    ]);
    const guests = sessionKey('guest', 'c');
    await storage.mqttSessions.apply([queued(aMessage('t'), 1, guests)]);
    await storage.mqttSessions.apply([{ kind: 'ended', key: guests }]);
    assert.deepEqual(await keysOf(storage), [sessionKey(anasKey, 'c'), sessionKey(ana, 'c')]);
  },

  'a queued message waits with all it has until each session has settled it': async (storage) => {
    const [a, b] = [sessionKey(ana, 'a'), sessionKey('guest', 'b')];
    const message = aMessage('devices/d/sensors/t/value', {
      payload: Uint8Array.of(0, 255, 10),
      properties: Uint8Array.of(38, 0, 1, 97, 0, 1, 98),
      qos: 2,
      retain: true,
      expiresAt: noon,
      publisher: sessionKey(ana, 'p'),
    });
    const entry = { packetId: 65_535, qos: 2, retain: true, identifiers: [3, 1] } as const;
    await storage.mqttSessions.apply([
      opened(ana, 'a'),
      opened('guest', 'b'),
      {
        kind: 'queued',
        message,
        entries: [
          { key: a, ...entry },
          { key: b, ...entry },
        ],
      },
      queued(aMessage('later', { payload: new Uint8Array() }), 1, a),
    ]);
    const [first, later] = plain(await storage.mqttSessions.load()).sessions[1]?.queue ?? [];
    assert.deepEqual(first, { ...entry, message: plainMessage(message) });
    assert.deepEqual([later?.packetId, later?.message?.payload], [1, []]);
    await storage.mqttSessions.apply([
      { kind: 'settled', key: a, packetId: 65_535 },
      { kind: 'released', key: b, packetId: 65_535 },
    ]);
    assert.deepEqual((await sessionOf(storage, 'b')).queue, [entry]);
    assert.deepEqual((await sessionOf(storage, 'a')).queue.length, 1);
    await storage.mqttSessions.apply([{ kind: 'settled', key: b, packetId: 65_535 }]);
    assert.deepEqual((await sessionOf(storage, 'b')).queue, []);
  },

  'queues keep their order, also when a packet id comes again': async (storage) => {
    const key = sessionKey('guest', 'c');
    const ids = [3, 1, 2];
    await storage.mqttSessions.apply([
      opened('guest', 'c'),
      ...ids.map((id) => queued(aMessage(`m${id}`), id, key)),
      { kind: 'settled', key, packetId: 3 },
      queued(aMessage('m3 again'), 3, key),
    ]);
    const topics = (await sessionOf(storage, 'c')).queue.map(({ message }) => message?.topic);
    assert.deepEqual(topics, ['m1', 'm2', 'm3 again']);
  },

  'ids of received messages are kept until they are completed': async (storage) => {
    const key = sessionKey('guest', 'c');
    const received = [9, 2, 9].map((packetId) => ({ kind: 'received', key, packetId }) as const);
    await storage.mqttSessions.apply([opened('guest', 'c'), ...received]);
    assert.deepEqual((await sessionOf(storage, 'c')).received, [2, 9]);
    await storage.mqttSessions.apply([{ kind: 'completed', key, packetId: 9 }]);
    assert.deepEqual((await sessionOf(storage, 'c')).received, [2]);
  },

  'an id is kept with the datapoints that came under it, and they are stored once': async (
    storage,
  ) => {
    const { mqttSessions, datapoints } = storage;
    const { key } = aSession('guest', 'c');
    const append = async (value: number, packetId: number, session = key, name = 't') => {
      const batch = singleBatch(value, undefined, noon);
      const receivedAs = { session, packetId, retain: false };
      const ref = { deviceId: deviceId('d'), sensorId: sensorId(name) };
      const [outcome] = await datapoints.append([
        { ...ref, batch, publishContext: { receivedAs } },
      ]);
      return outcome?.kind === 'stored' ? outcome.fresh.count : outcome?.kind;
    };
    await mqttSessions.apply([opened('guest', 'c')]);
    assert.equal(await append(1, 7), 1);
    assert.equal(await append(1, 8, key, 'none'), 'missing');
    assert.equal(await append(1, 7), 0, 'it came again');
    // Whoever repeats it has it handed on.
    assert.deepEqual((await sessionOf(storage, 'c')).received, []);
    await mqttSessions.apply([{ kind: 'received', key, packetId: 7 }]);
    assert.deepEqual((await sessionOf(storage, 'c')).received, [7]);
    assert.equal(await append(1, 7), 0, 'it came once more');
    assert.equal(await append(2, 8), 1, 'an id under which nothing was stored');
    assert.equal(await append(3, 7, sessionKey(ana, 'c')), 1, 'of a session that is not kept');
    await mqttSessions.apply([{ kind: 'completed', key, packetId: 7 }]);
    assert.equal(await append(4, 7), 1, 'another one under an id that was released');
    await mqttSessions.apply([opened('guest', 'c')]);
    assert.equal(await append(5, 7), 1, 'another one of a new session');
    assert.equal(
      await datapoints.count({ deviceId: deviceId('d'), sensorId: sensorId('t') }, {}),
      5,
    );
  },

  'changes to a session that does not exist change nothing': async ({ mqttSessions }) => {
    const key = sessionKey('guest', 'nobody');
    await mqttSessions.apply([
      { kind: 'moved', key, expirySeconds: 1 },
      { kind: 'ended', key },
      { kind: 'subscribed', key, subscription: aSubscription('#') },
      { kind: 'unsubscribed', key, filter: '#' },
      queued(aMessage('t'), 1, key),
      { kind: 'released', key, packetId: 1 },
      { kind: 'settled', key, packetId: 1 },
      { kind: 'received', key, packetId: 1 },
      { kind: 'completed', key, packetId: 1 },
      { kind: 'unretained', topic: 't' },
    ]);
    assert.deepEqual(await mqttSessions.load(), { sessions: [], retained: [], wills: [] });
  },

  'the retained message of a topic is the last one, with all it has': async ({ mqttSessions }) => {
    const topic = 'devices/d/sensors/t/value';
    const payer = payerAt('10.0.0.1');
    const fields = { retain: true, properties: Uint8Array.of(1), expiresAt: 5, payer };
    const message = aMessage(topic, fields);
    await mqttSessions.apply([retained(topic), { kind: 'retained', message }]);
    assert.deepEqual(plain(await mqttSessions.load()).retained, [plainMessage(message)]);
    await mqttSessions.apply([{ kind: 'unretained', topic }]);
    assert.deepEqual((await mqttSessions.load()).retained, []);
  },

  'what is kept stays when what it is about goes: its keeper drops it': async (storage) => {
    const topics = ['devices/d/sensors/t/value', 'devices/none/x', 'gateways/g/x'];
    const identities = [ana, anasKey, 'user/id-nobody', 'guest'];
    await storage.mqttSessions.apply([
      ...identities.map((identity) => opened(identity, 'c')),
      ...topics.map(retained),
    ]);
    const kept = identities.map((identity) => sessionKey(identity, 'c')).sort();
    await storage.devices.removeSensor(deviceId('d'), sensorId('t'), noon);
    await storage.devices.remove(deviceId('d'));
    await storage.gateways.remove(gatewayId('g'));
    await storage.credentials.removeKey(userId('id-ana'), keyId('k1'));
    await storage.users.update(userId('id-ana'), { isDisabled: true });
    await storage.users.remove(userId('id-ana'));
    assert.deepEqual(await keysOf(storage), kept);
    assert.deepEqual(await topicsOf(storage), topics.toSorted());
  },

  'whatever the order of changes, it keeps what a plain model keeps': async ({ mqttSessions }) => {
    const keys = ['a', 'b'].map((clientId) => aSession('guest', clientId));
    await fc.assert(
      fc.asyncProperty(fc.array(aChange(keys), { maxLength: 60 }), async (changes) => {
        await mqttSessions.apply([...keys.map(({ key }) => ({ kind: 'ended', key }) as const)]);
        await mqttSessions.apply(changes);
        const kept = (await mqttSessions.load()).sessions;
        const found = kept.map(({ clientId, queue, received }) => [
          clientId,
          queue.map(({ packetId, message }) => [packetId, message?.topic]),
          received,
        ]);
        assert.deepEqual(found.sort(), model(changes).sort());
      }),
      { numRuns: 25 },
    );
  },
};

function aChange(sessions: readonly SessionRecord[]): fc.Arbitrary<SessionChange> {
  const session = fc.constantFrom(...sessions);
  const packetId = fc.integer({ min: 1, max: 3 });
  const settled = fc.constantFrom('released', 'settled', 'received', 'completed');
  return fc.oneof(
    session.map((one): SessionChange => ({ kind: 'opened', session: one })),
    fc
      .tuple(session, packetId, fc.constantFrom('x', 'y'))
      .map(([{ key }, id, topic]) => queued(aMessage(topic), id, key)),
    fc
      .tuple(session, packetId, settled)
      .map(([{ key }, id, kind]) => ({ kind, key, packetId: id }) as SessionChange),
  );
}

type ModelSession = {
  readonly queue: Map<number, string | undefined>;
  readonly received: Set<number>;
};

/** The same by hand: client id, queue, received ids. */
function model(changes: readonly SessionChange[]): unknown[] {
  const sessions = new Map<string, ModelSession>();
  for (const change of changes) {
    if (change.kind === 'opened') {
      sessions.set(change.session.key, { queue: new Map(), received: new Set() });
    } else if (change.kind === 'queued') {
      for (const { key, packetId } of change.entries) {
        const queue = sessions.get(key)?.queue;
        if (queue?.has(packetId) === false) queue.set(packetId, change.message.topic);
      }
    } else if ('packetId' in change) {
      const { queue, received } = sessions.get(change.key) ?? {};
      const id = change.packetId;
      if (change.kind === 'released' && queue?.has(id) === true) queue.set(id, undefined);
      if (change.kind === 'settled') queue?.delete(id);
      if (change.kind === 'received') received?.add(id);
      if (change.kind === 'completed') received?.delete(id);
    }
  }
  return [...sessions].map(([key, { queue, received }]) => [
    key.split('\u0000')[1],
    [...queue],
    [...received].sort(),
  ]);
}

/** What every engine promises of MQTT sessions. */
export function mqttSessionsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withAccounts);
}
