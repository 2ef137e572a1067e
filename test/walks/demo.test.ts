import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFleet } from '../../tools/demo/fleet.ts';
import type { Account } from '../../tools/demo/identity.ts';
import {
  type SimulationOptions,
  type SimulationReport,
  simulate,
} from '../../tools/demo/simulation.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';

const now = Date.UTC(2026, 2, 20, 12, 3);
const dayMs = 86_400_000;
const stepMs = 600_000;
const password = 'password of the demo';

interface Run {
  readonly report: SimulationReport;
  readonly lines: readonly string[];
}

async function run(service: Service, changes: Partial<SimulationOptions> = {}): Promise<Run> {
  const lines: string[] = [];
  const account: Account = { kind: 'demo', password };
  const report = await simulate(
    { url: service.url, account, devices: 8, seed: 1, prefix: 'demo', ...changes },
    {
      clock: createManualClock(now),
      print: (line) => lines.push(line),
      isTerminal: false,
      wait: () => Promise.resolve(),
      signal: new AbortController().signal,
    },
  );
  return { report, lines };
}

const start = () => startService({ clock: createManualClock(now) });

/** All values of the first sensor of a device, as its owner sees them. */
async function valuesOf(service: Service, token: string, sensorPath: string): Promise<unknown[]> {
  const { status, json } = await service.call({ path: `${sensorPath}/values?limit=9999`, token });
  assert.equal(status, 200);
  assert.ok(Array.isArray(json));
  return json;
}

async function demoToken(service: Service): Promise<string> {
  const json = { username: 'demo', password };
  const { status, text } = await service.call({ method: 'POST', path: '/auth/token', json });
  assert.equal(status, 200, text);
  return text;
}

test('two days of history arrive whole, and a second run adds nothing', async () => {
  await using service = await start();
  const history = { lengthMs: 2 * dayMs, stepMs };
  const first = await run(service, { history });
  assert.equal(first.report.devicesMade, 8);

  const token = await demoToken(service);
  const counts = async () => {
    let stored = 0;
    for (const { id, sensors } of createFleet({ count: 8, seed: 1, prefix: 'demo' })) {
      for (const sensor of sensors) {
        const path = `/devices/${id}/sensors/${sensor.id}`;
        stored += (await valuesOf(service, token, path)).length;
      }
    }
    return stored;
  };
  const { pastValues, liveValues } = first.report;
  assert.equal(await counts(), pastValues + liveValues);
  // 33 sensors; both ends of the two days are included, and a probe may be silent for a while.
  const whole = 33 * ((2 * dayMs) / stepMs + 1);
  assert.ok(pastValues > 0.95 * whole && pastValues <= whole, `${pastValues} of ${whole}`);

  const second = await run(service, { history });
  assert.deepEqual(second.report, { ...first.report, devicesMade: 0 });
  assert.equal(await counts(), pastValues + liveValues);
});

test('values are those of the model, from the oldest to the newest', async () => {
  await using service = await start();
  await run(service, { devices: 1, history: { lengthMs: dayMs, stepMs } });
  const token = await demoToken(service);
  const path = '/devices/demo-accra-weather/sensors/TC';
  const values = await valuesOf(service, token, path);
  const [device] = createFleet({ count: 1, seed: 1, prefix: 'demo' });
  const model = device?.sensors.find(({ id }) => id === 'TC');
  assert.ok(model !== undefined);
  const told = values.map((item) => {
    const { timestamp, value } = item as { timestamp: string; value: number };
    return [Date.parse(timestamp), value] as const;
  });
  assert.equal(told.length, dayMs / stepMs + 1);
  for (const [instant, value] of told) assert.equal(value, model.valueAt(instant));
  assert.equal(told[0]?.[0], Math.ceil((now - dayMs) / stepMs) * stepMs);
  assert.equal(told.at(-1)?.[0], now);
});

test('private devices are hidden from strangers and shown to the second user', async () => {
  await using service = await start();
  const { lines } = await run(service, { devices: 6 });
  const shown = lines.map((line) => /^Created user "demo-friend" with password (\S+) /.exec(line));
  const friendPassword = shown.find((match) => match !== null)?.[1];
  assert.ok(friendPassword !== undefined, lines.join('\n'));
  const json = { username: 'demo-friend', password: friendPassword };
  const { text: token } = await service.call({ method: 'POST', path: '/auth/token', json });
  const ids = async (as: { readonly token?: string }) => {
    const list = await service.call({ path: '/devices', ...as });
    return (list.json as readonly { id: string }[]).map(({ id }) => id);
  };
  const visible = await ids({});
  assert.equal(visible.length, 4);
  assert.deepEqual(
    (await ids({ token })).filter((id) => !visible.includes(id)),
    ['demo-kumasi-pond'],
  );
});

test('a demo without a password prints the one it made up, once', async () => {
  await using service = await start();
  const { lines } = await run(service, { account: { kind: 'demo' } });
  assert.ok(lines.some((line) => /^Created user "demo" with password \S{20,}/.test(line)));
  await assert.rejects(run(service, { account: { kind: 'demo' } }), /exists already: give its/);
});

test('gateways, a project and an alert come with the devices, once', async () => {
  await using service = await start();
  await run(service, { devices: 5 });
  await run(service, { devices: 5 });
  const token = await demoToken(service);
  const list = async (path: string) => {
    const { status, json } = await service.call({ path, token });
    assert.equal(status, 200);
    return json as readonly Record<string, unknown>[];
  };
  const gateways = await list('/gateways');
  assert.deepEqual(
    gateways.map(({ name }) => name).toSorted(),
    ['Accra', 'Bobo-Dioulasso', 'Dakar', 'Kisumu', 'Kumasi'].map((town) => `Gateway, ${town}`),
  );
  assert.ok(gateways.every((gateway) => gateway['last_seen'] === new Date(now).toISOString()));
  const projects = await list('/projects');
  assert.deepEqual(
    projects.map(({ name, device_ids }) => [name, device_ids]),
    [['Water points', ['demo-dakar-tank', 'demo-kisumu-pump']]],
  );
  const alerts = await list('/notifications');
  assert.deepEqual(
    alerts.map(({ condition }) => (condition as { devices: unknown }).devices),
    [['demo-dakar-tank']],
  );
});

test('guests have public devices only', async () => {
  await using service = await start();
  await run(service, { account: { kind: 'guest' }, devices: 4 });
  const { json } = await service.call({ path: '/devices' });
  const devices = json as readonly { owner: string; visibility: string }[];
  assert.deepEqual(
    devices.map(({ owner, visibility }) => [owner, visibility]),
    Array.from({ length: 4 }, () => ['guest', 'public']),
  );
});

test('a token is enough, and devices of somebody else are left alone', async () => {
  await using service = await start();
  const token = await service.tokenOf('ama');
  await run(service, { account: { kind: 'token', token }, devices: 3 });
  await assert.rejects(run(service), /demo-accra-weather belongs to somebody else: .*--prefix/);
  await run(service, { prefix: 'mine', devices: 3 });
});

test('a wrong password, a wrong token and a closed port are told apart', async () => {
  await using service = await startService({ environment: { KIPIMO_SIGNUP: 'closed' } });
  const as = (account: Account) => run(service, { account });
  await assert.rejects(
    as({ kind: 'user', username: 'admin', password: 'a guess' }),
    /the password of admin is wrong/,
  );
  await assert.rejects(as({ kind: 'token', token: 'made-up' }), /401: .*token is not valid/);
  await assert.rejects(as({ kind: 'demo' }), /takes no new accounts: give --username/);
});

test('a service that is not there is named at once', async () => {
  const service = await start();
  await service[Symbol.asyncDispose]();
  await assert.rejects(run(service), /no service answers at http:.*: start one with kipimo serve/);
});
