import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { openBadLine } from './bad-line.ts';
import { plainRequest } from './plain-http.ts';
import { createWaziGate, type Measured, type WaziGate } from './wazi-gate.ts';

const start = Date.parse('2026-03-04T05:06:07.890Z');
const clock = createManualClock(start);
const login = { username: 'ama', password: passwordOf('ama') };
let service: Service;
let gate: WaziGate;

before(async () => {
  service = await startService({ clock });
  await service.tokenOf('ama');
});

beforeEach(() => {
  gate?.[Symbol.dispose]();
  gate = createWaziGate({ id: 'gate1', url: service.url, login });
});

after(async () => {
  gate[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** So many seconds before the story starts, in the gateway's spelling: nanoseconds, UTC+3. */
function localTime(secondsAgo: number): string {
  const shifted = new Date(start - secondsAgo * 1_000 + 3 * 3_600_000).toISOString();
  return `${shifted.slice(0, -1)}${String(Math.abs(secondsAgo)).padStart(6, '0')}+03:00`;
}

const measurements = (count: number, endsSecondsAgo = 0): Measured[] =>
  Array.from({ length: count }, (_, index) => ({
    value: 20 + (index % 100) / 10,
    timestamp: localTime(endsSecondsAgo + count - index),
  }));

async function stored(device: string, sensor: string): Promise<readonly Measured[]> {
  const path = `/devices/${device}/sensors/${sensor}/values?limit=100000`;
  const { text } = await gate.send('GET', path);
  return JSON.parse(text) as Measured[];
}

const inUtc = ({ value, timestamp }: Measured) => ({
  value,
  timestamp: new Date(timestamp).toISOString(),
});

const trimmed = (values: readonly Measured[]) => values.map(inUtc);

test('a login that names no type is answered the bare token', async () => {
  const reply = await plainRequest({
    url: `${service.url}/api/v2/auth/token`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(login),
  });
  assert.equal(reply.status, 200);
  assert.match(String(reply.headers['content-type']), /^text\/plain/);
  assert.match(reply.text, /^[\w.~+/=-]+$/, 'nothing that a header could not carry');
});

test('a gateway declares itself at every start, and is told when it is known', async () => {
  assert.equal(await gate.declare(), 200);
  assert.equal(await gate.declare(), 422);
  const { text } = await gate.send('GET', '/gateways/gate1');
  const { owner, name } = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([owner, name], ['ama', 'Gate']);
});

test('a gateway uploads 30 000 values that the cloud lacks, and then only news', async () => {
  const values = measurements(30_000);
  const path = '/devices/barn/sensors/TC1/values';
  assert.deepEqual(await gate.sync({ id: 'barn', sensors: [{ id: 'TC1', values }] }), [
    'POST /auth/token 200',
    'GET /devices/barn 404',
    'POST /devices 204',
    `POST ${path} 204`,
  ]);
  assert.deepEqual(trimmed(await stored('barn', 'TC1')), trimmed(values));
  assert.deepEqual(await gate.sync({ id: 'barn', sensors: [{ id: 'TC1', values }] }), [
    'GET /devices/barn 200',
  ]);
  const news = [...values, ...measurements(3, -60)];
  assert.deepEqual(await gate.sync({ id: 'barn', sensors: [{ id: 'TC1', values: news }] }), [
    'GET /devices/barn 200',
    `POST ${path} 204`,
  ]);
  assert.deepEqual(trimmed((await stored('barn', 'TC1')).slice(-3)), trimmed(news.slice(-3)));
});

test('an upload whose answer was lost is sent again and stored once', async () => {
  await using line = await openBadLine(service.url);
  using far = createWaziGate({ id: 'gate1', url: line.url, login });
  const values = measurements(30_000);
  const sensors = [{ id: 'TC1', values: values.slice(0, 1) }];
  await far.sync({ id: 'field', sensors });
  const path = '/devices/field/sensors/TC1/values';
  line.loseNextAnswer();
  const text = JSON.stringify(values);
  const reply = await far.send('POST', path, { type: 'application/json', text });
  assert.deepEqual([reply.status, line.lostCount], [204, 1]);
  assert.deepEqual(trimmed(await stored('field', 'TC1')), trimmed(values));
});

test('values within one millisecond of each other are all kept', async () => {
  const second = '2026-03-04T05:00:00';
  const values = [1, 2, 3].map((value) => ({
    value,
    timestamp: `${second}.123456${value}00Z`,
  }));
  await gate.sync({ id: 'shaker', sensors: [{ id: 'vibration', values }] });
  const kept = await stored('shaker', 'vibration');
  assert.deepEqual(
    kept.map(({ value, timestamp }) => [value, timestamp]),
    [1, 2, 3].map((value) => [value, `${second}.123Z`]),
  );
});

test('a token that expired in the middle costs a login and nothing else', async () => {
  const values = measurements(2, 100);
  await gate.sync({ id: 'pond', sensors: [{ id: 'TC1', values }] });
  clock.advance(10 * 60_000);
  const news = [...values, { value: 30, timestamp: new Date(clock.now()).toISOString() }];
  assert.deepEqual(await gate.sync({ id: 'pond', sensors: [{ id: 'TC1', values: news }] }), [
    'GET /devices/pond 401',
    'POST /auth/token 200',
    'GET /devices/pond 200',
    'POST /devices/pond/sensors/TC1/values 204',
  ]);
  assert.equal((await stored('pond', 'TC1')).length, 3);
});

test('one bad sensor does not hold up the uploads of the others', async () => {
  await gate.sync({ id: 'shed', sensors: [{ id: 'good', values: measurements(1, 50) }] });
  const tomorrow = new Date(clock.now() + 2 * 86_400_000).toISOString();
  const trace = await gate.sync({
    id: 'shed',
    sensors: [
      { id: 'bad id', values: measurements(1) },
      { id: 'unknown', values: measurements(1) },
      { id: 'good', values: [{ value: 1, timestamp: tomorrow }] },
      { id: 'good', values: measurements(2) },
    ],
  });
  const path = '/devices/shed/sensors';
  assert.deepEqual(trace.slice(1), [
    `POST ${path}/bad id/values 400`,
    `POST ${path}/unknown/values 404`,
    `POST ${path}/good/values 400`,
    `POST ${path}/good/values 204`,
  ]);
  assert.equal((await stored('shed', 'good')).length, 3);
});

test('names are changed as text with a charset, of whatever has one', async () => {
  const device = { id: 'house', sensors: [{ id: 'TC1', values: measurements(1) }] };
  await gate.sync(device);
  const actuator = { type: 'application/json', text: '{"id":"A1"}' };
  await gate.send('POST', '/devices/house/actuators', actuator);
  for (const path of ['', '/sensors/TC1', '/actuators/A1']) {
    const body = { type: 'text/plain; charset=utf-8', text: 'Étable n°2 "est"' };
    const reply = await gate.send('PUT', `/devices/house${path}/name`, body);
    assert.deepEqual([reply.status, reply.text], [204, '']);
    const { text } = await gate.send('GET', `/devices/house${path}`);
    assert.equal((JSON.parse(text) as { name: string }).name, body.text);
  }
});

test('a sign of life by PUT or POST, on health or heartbeat, is seen', async () => {
  await gate.declare();
  const bodies = [undefined, { type: 'application/json', text: '{"uptime":7}' }];
  for (const method of ['PUT', 'POST']) {
    for (const word of ['health', 'heartbeat']) {
      for (const body of bodies) {
        clock.advance(1_000);
        const reply = await gate.send(method, `/gateways/gate1/${word}`, body);
        assert.deepEqual([reply.status, reply.text], [204, '']);
        const { text } = await gate.send('GET', '/gateways/gate1');
        const seen = (JSON.parse(text) as { last_seen: string }).last_seen;
        assert.equal(seen, new Date(clock.now()).toISOString());
      }
    }
  }
});
