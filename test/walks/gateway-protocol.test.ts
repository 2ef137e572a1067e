import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { passwordOf, type Reply, type Service, startService } from '../service.ts';

interface Measurement {
  readonly value: unknown;
  readonly timestamp?: string;
}

interface Gateway {
  /** Hands one measurement over as the protocol says; answers the requests it took. */
  report(deviceId: string, sensorId: string, datapoint: Measurement): Promise<readonly string[]>;
}

/** The gateway protocol of the specification, version 2 [spec 9]; without a login as guest. */
function createGateway(service: Service, login?: { username: string; password: string }): Gateway {
  let token: string | undefined;
  let trace: string[] = [];

  async function logIn(): Promise<void> {
    const reply = await service.call({ method: 'POST', path: '/auth/token', json: login });
    assert.equal(reply.status, 200, reply.text);
    trace.push('POST /auth/token 200');
    token = reply.text;
  }

  async function send(method: string, path: string, json?: unknown): Promise<Reply> {
    const request = { method, path, ...(json !== undefined && { json }) };
    const reply = await service.call({ ...request, ...(token !== undefined && { token }) });
    trace.push(`${method} ${path} ${reply.status}`);
    if (reply.status !== 401) return reply;
    await logIn();
    return send(method, path, json);
  }

  async function ensure(path: string, creation: { path: string; json: unknown }): Promise<void> {
    const found = await send('GET', path);
    if (found.status === 404) {
      const created = await send('POST', creation.path, creation.json);
      assert.equal(created.status, 204, created.text);
    } else {
      assert.equal(found.status, 200, found.text);
    }
  }

  return {
    async report(deviceId, sensorId, datapoint) {
      trace = [];
      if (login !== undefined && token === undefined) await logIn();
      const device = `/devices/${deviceId}`;
      const sensor = `${device}/sensors/${sensorId}`;
      await ensure(device, { path: '/devices', json: { id: deviceId, gateway_id: 'gw1' } });
      await ensure(sensor, { path: `${device}/sensors`, json: { id: sensorId } });
      const pushed = await send('POST', `${sensor}/value`, datapoint);
      assert.equal(pushed.status, 204, pushed.text);
      return trace;
    },
  };
}

const measured = { value: 23.4, timestamp: '2016-06-08T18:20:27.873Z' };

test('a gateway with a login creates what is missing once and pushes ever after', async () => {
  await using service = await startService();
  const ama = service.as('ama');
  await service.tokenOf('ama');
  const gateway = createGateway(service, { username: 'ama', password: passwordOf('ama') });
  assert.deepEqual(await gateway.report('node7', 'TC1', measured), [
    'POST /auth/token 200',
    'GET /devices/node7 404',
    'POST /devices 204',
    'GET /devices/node7/sensors/TC1 404',
    'POST /devices/node7/sensors 204',
    'POST /devices/node7/sensors/TC1/value 204',
  ]);
  const second = { value: 23.5, timestamp: '2016-06-08T18:30:27.873Z' };
  assert.deepEqual(await gateway.report('node7', 'TC1', second), [
    'GET /devices/node7 200',
    'GET /devices/node7/sensors/TC1 200',
    'POST /devices/node7/sensors/TC1/value 204',
  ]);
  const device = (await ama({ path: '/devices/node7' })).json as Record<string, unknown>;
  assert.equal(device['owner'], 'ama');
  assert.equal(device['gateway_id'], 'gw1');
  const values = (await ama({ path: '/devices/node7/sensors/TC1/values' })).json;
  assert.deepEqual(
    (values as Measurement[]).map(({ value, timestamp }) => ({ value, timestamp })),
    [measured, second],
  );
});

test('a gateway whose token expired is told 401, logs in again and loses nothing', async () => {
  const clock = createManualClock(Date.parse('2026-03-04T05:06:07Z'));
  await using service = await startService({ clock });
  await service.tokenOf('ama');
  const gateway = createGateway(service, { username: 'ama', password: passwordOf('ama') });
  await gateway.report('node7', 'TC1', { value: 1 });
  clock.advance(10 * 60_000);
  assert.deepEqual(await gateway.report('node7', 'TC1', { value: 2 }), [
    'GET /devices/node7 401',
    'POST /auth/token 200',
    'GET /devices/node7 200',
    'GET /devices/node7/sensors/TC1 200',
    'POST /devices/node7/sensors/TC1/value 204',
  ]);
  const values = (await service.call({ path: '/devices/node7/sensors/TC1/values' })).json;
  assert.deepEqual(
    (values as Measurement[]).map(({ value }) => value),
    [1, 2],
  );
});

test('a gateway without a login does the same as a guest', async () => {
  await using service = await startService();
  const gateway = createGateway(service);
  assert.deepEqual(await gateway.report('node8', 'SM1', measured), [
    'GET /devices/node8 404',
    'POST /devices 204',
    'GET /devices/node8/sensors/SM1 404',
    'POST /devices/node8/sensors 204',
    'POST /devices/node8/sensors/SM1/value 204',
  ]);
  assert.equal((await gateway.report('node8', 'SM1', measured)).length, 3);
  const device = (await service.call({ path: '/devices/node8' })).json as Record<string, unknown>;
  assert.equal(device['owner'], 'guest');
  const values = (await service.call({ path: '/devices/node8/sensors/SM1/values' })).json;
  assert.equal((values as unknown[]).length, 1, 'the repeat is stored once');
});

test('a sketch that knows only text/plain pushes its number and reads it back', async () => {
  await using service = await startService();
  const id = `sketch-${randomUUID()}`;
  const json = { id, sensors: [{ id: 'temperature' }] };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  const path = `/devices/${id}/sensors/temperature`;
  const type = 'text/plain;charset=utf-8';
  const pushed = await service.call({ method: 'POST', path: `${path}/value`, body: '25', type });
  assert.equal(pushed.status, 204, pushed.text);
  assert.equal(pushed.text, '');
  const { json: sensor } = await service.call({ path });
  const { value } = (sensor as { value: Measurement }).value;
  assert.equal(value, '25');
  const warm = (await service.call({ path: `/devices?q=id==${id};temperature%3E20` })).json;
  assert.equal((warm as unknown[]).length, 1, 'text that is a number counts as that number');
});
