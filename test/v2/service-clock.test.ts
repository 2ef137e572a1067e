import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { assertDone } from './refusal.ts';

const noon = Date.UTC(2027, 0, 15, 12);
const day = 86_400_000;
const values = '/devices/d/sensors/t/values';

async function makeSensor(service: Service): Promise<void> {
  const json = { id: 'd', sensors: [{ id: 't' }] };
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
}

const push = (service: Service, value: number, timestamp?: number) =>
  service.as('ama')({
    ...{ method: 'POST', path: values },
    json: timestamp === undefined ? { value } : { value, timestamp: isoOf(timestamp) },
  });

const isoOf = (time: number): string => new Date(time).toISOString();

/** Values with the times that they were received, oldest first. */
async function receivedBy(service: Service): Promise<readonly [number, number][]> {
  const { json } = await service.as('ama')({ path: `${values}?limit=1000` });
  return (json as { value: number; date_received: string }[]).map(({ value, date_received }) => [
    value,
    Date.parse(date_received),
  ]);
}

async function metric(service: Service): Promise<number> {
  const { text } = await service.as('admin')({ path: '//metrics' });
  return Number(/^kipimo_clock_behind_seconds (\S+)$/m.exec(text)?.[1]);
}

function listen(): { readonly log: Log; readonly said: string[] } {
  const said: string[] = [];
  return { log: { ...silentLog, error: (_fields, line) => said.push(line) }, said };
}

test('a clock that is days behind at a start does not take the time back', async (context) => {
  const directory = temporaryDirectory(context);
  {
    await using service = await startService({ directory, clock: createManualClock(noon) });
    await makeSensor(service);
    assertDone(await push(service, 1));
    assert.deepEqual((await service.call({ path: '//readyz' })).json, { status: 'ok' });
    assert.equal(await metric(service), 0);
  }
  const clock = createManualClock(noon - 3 * day);
  const { log, said } = listen();
  await using service = await startService({ directory, clock, log });
  assert.match(said.join(), /behind what was stored/);
  // What the device measured a moment ago is no time in the future.
  assertDone(await push(service, 2, noon + 1_000));
  assertDone(await push(service, 3));
  const received = await receivedBy(service);
  assert.deepEqual(received.map(([value]) => value).toSorted(), [1, 2, 3]);
  assert.equal(received[0]?.[0], 1);
  for (const [value, at] of received) {
    assert.ok(at >= noon && at < noon + 60_000, `${value} at ${isoOf(at)}`);
  }
  const ready = await service.call({ path: '//readyz' });
  assert.equal(ready.status, 200);
  const { clock: state, clock_behind_s: seconds } = ready.json as Record<string, unknown>;
  assert.equal(state, 'behind');
  assert.ok(Math.abs(Number(seconds) - 3 * 86_400) < 60, ready.text);
  assert.ok(Math.abs((await metric(service)) - 3 * 86_400) < 60);
  // Devices set their clocks by Date, on every path.
  for (const path of ['//readyz', values, '/devices/d/sensors/t']) {
    const { headers } = await service.as('ama')({ path });
    const date = Date.parse(headers.get('date') ?? '');
    assert.ok(date >= noon - 1_000 && date < noon + 60_000, `${path}: ${headers.get('date')}`);
  }
  // Before its tokens are over.
  clock.set(noon + 400_000);
  assertDone(await push(service, 4));
  assert.deepEqual((await receivedBy(service)).at(-1), [4, noon + 400_000]);
  assert.deepEqual((await service.call({ path: '//readyz' })).json, { status: 'ok' });
});

test('a clock that is set back while the service runs does not take the time back', async () => {
  const clock = createManualClock(noon);
  const { log, said } = listen();
  await using service = await startService({ clock, log });
  await makeSensor(service);
  for (const [value, time] of [noon, noon - 3 * day, noon - 9 * day, noon - day].entries()) {
    clock.set(time);
    assertDone(await push(service, value));
  }
  const received = await receivedBy(service);
  assert.deepEqual(
    received.map(([value]) => value),
    [0, 1, 2, 3],
  );
  assert.ok(received.every(([, at], index) => at >= (received[index - 1]?.[1] ?? noon)));
  assert.equal(said.length, 1);
  // A login of now is not over, and one made before lives on.
  assert.equal((await service.as('ben')({ path: '/users/me' })).status, 200);
  assert.equal((await service.as('ama')({ path: '/users/me' })).status, 200);
});

test('values of a clock that was years ahead do not carry the time along', async (context) => {
  const directory = temporaryDirectory(context);
  {
    await using service = await startService({ directory, clock: createManualClock(noon) });
    await makeSensor(service);
    assertDone(await push(service, 1));
  }
  {
    const wrong = createManualClock(Date.UTC(2036, 1, 7));
    await using service = await startService({ directory, clock: wrong });
    assertDone(await push(service, 2));
  }
  const { log, said } = listen();
  const clock = createManualClock(noon + day);
  await using service = await startService({ directory, clock, log });
  assert.match(said.join(), /years from now/);
  assertDone(await push(service, 3));
  assert.deepEqual(
    (await receivedBy(service)).find(([value]) => value === 3),
    [3, noon + day],
  );
  assert.equal(await metric(service), 0);
});
