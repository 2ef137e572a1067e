import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Datapoint, Device, Sensor } from '../api/types.ts';
import { calibrated } from './calibration.ts';
import type { ConnectionState } from './connection.ts';
import { createHandTimers } from './hand-timers.ts';
import { liveLimits } from './live-limits.ts';
import { createLiveValues, type LiveDatapoint } from './live-values.ts';
import { readValueMessage } from './value-message.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function createStage() {
  const timers = createHandTimers();
  const filters = new Set<string>();
  const frames: (() => void)[] = [];
  let onMessage: (topic: string, payload: Uint8Array) => void = () => {};
  let onState: (state: ConnectionState) => void = () => {};
  let answer: readonly Device[] | undefined;
  const newest = new Map<string, Datapoint>();
  const asked: string[] = [];
  let connections = 0;
  let fetches = 0;
  const live = createLiveValues({
    timers,
    onFrame: (callback) => void frames.push(callback),
    fetchDevices: async () => {
      fetches += 1;
      if (answer === undefined) throw new Error('no network');
      return answer;
    },
    fetchNewest: async (device, sensor) => {
      asked.push(`${device}/${sensor}`);
      return newest.get(`${device}/${sensor}`);
    },
    connect: (events) => {
      connections += 1;
      ({ onMessage, onState } = events);
      return {
        subscribe: (filter) => void filters.add(filter),
        unsubscribe: (filter) => void filters.delete(filter),
        publish: () => true,
        reconnect: () => {},
        close: () => {},
      };
    },
  });
  return {
    ...{ timers, filters, live, frames, newest, asked },
    push: (topic: string, text: string) => onMessage(topic, bytes(text)),
    become: (state: ConnectionState) => onState(state),
    answerWith: (devices: readonly Device[] | undefined) => {
      answer = devices;
    },
    paint: () => {
      for (const frame of frames.splice(0)) frame();
    },
    counts: () => ({ connections, fetches }),
  };
}

function aDevice(sensors: readonly Sensor[]): Device {
  const day = '2026-03-01T00:00:00.000Z';
  return {
    ...{ id: 'd1', owner: 'ama', sensors, actuators: [{ id: 'pump', value: true }] },
    ...{ date_created: day, date_modified: day },
  };
}

test('nothing is connected until a device is watched', () => {
  const { counts, live } = createStage();
  assert.equal(counts().connections, 0);
  live.watchDevice({ id: 'd1' });
  live.watchDevice({ id: 'd2' });
  assert.equal(counts().connections, 1);
});

test('values show once a frame, the newest of each sensor, and every one is listened to', () => {
  const { live, push, paint, frames } = createStage();
  const watch = live.watchDevice({ id: 'd1' });
  const heard: (readonly LiveDatapoint[])[] = [];
  watch.listen((datapoints) => heard.push(datapoints));
  for (let value = 0; value < 60; value += 1)
    push('devices/d1/sensors/a/value', `{"value":${value}}`);
  push('devices/d1/sensors/b/value', '{"value":"open","timestamp":"2026-01-02T03:04:05Z"}');
  assert.equal(watch.values.value.size, 0);
  assert.equal(frames.length, 1);
  paint();
  assert.equal(watch.values.value.get('a')?.value, 59);
  assert.deepEqual(watch.values.value.get('b'), {
    value: 'open',
    at: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
  assert.deepEqual(
    heard.map((datapoints) => datapoints.length),
    [61],
  );
});

test('two watchers share the subscription; the last to stop ends it', () => {
  const { filters, live, push, paint } = createStage();
  const first = live.watchDevice({ id: 'd1' });
  const second = live.watchDevice({ id: 'd1' });
  assert.equal(filters.size, 2);
  first.stop();
  first.stop();
  assert.equal(filters.size, 2);
  push('devices/d1/sensors/a/value', '1');
  paint();
  assert.equal(second.values.value.get('a')?.value, 1);
  second.stop();
  assert.equal(filters.size, 0);
});

test('what is pushed is calibrated as reads are', () => {
  const { live, push, paint } = createStage();
  const calib = {
    linear: {
      value_min: { sensor_value: 0, real_value: 10 },
      value_max: { sensor_value: 100, real_value: 30 },
    },
  };
  const watch = live.watchDevice({ id: 'd1', sensors: [{ id: 'a', calib }] });
  push('devices/d1/sensors/a/value', '{"value":50}');
  push('devices/d1/sensors/b/value', '{"value":50}');
  paint();
  assert.equal(watch.values.value.get('a')?.value, 20);
  assert.equal(watch.values.value.get('b')?.value, 50);
  assert.equal(calibrated('50', calib), '50');
  assert.equal(calibrated(50, { linear: { ...calib.linear, enabled: false } }), 50);
});

test('what actuators are set to arrives too', () => {
  const { live, push, paint } = createStage();
  const watch = live.watchDevice({ id: 'd1' });
  push('devices/d1/actuators/pump/value', 'true');
  paint();
  assert.equal(watch.actuators.value.get('pump'), true);
});

test('messages that are none of ours change nothing', () => {
  const { live, push, paint } = createStage();
  const watch = live.watchDevice({ id: 'd1' });
  push('devices/d2/sensors/a/value', '1');
  push('devices/d1/sensors/a/value', 'no json');
  push('devices/d1/sensors/a/value', '{"timestamp":"2026-01-01"}');
  push('devices/d1/sensors/a/values/x', '1');
  push('gateways/d1', '1');
  paint();
  assert.equal(watch.values.value.size, 0);
});

test('more than fits into a frame drops the oldest', () => {
  const { live, push, paint } = createStage();
  const watch = live.watchDevice({ id: 'd1' });
  const heard: LiveDatapoint[] = [];
  watch.listen((datapoints) => heard.push(...datapoints));
  const count = liveLimits.pendingValuesMax + 5;
  for (let value = 0; value < count; value += 1) push('devices/d1/sensors/a/value', `${value}`);
  paint();
  assert.equal(heard.length, liveLimits.pendingValuesMax);
  assert.equal(heard.at(-1)?.value, count - 1);
});

test('without a connection values are fetched, until it is back', async () => {
  const { live, become, timers, answerWith, paint, counts } = createStage();
  const watch = live.watchDevice({ id: 'd1' });
  const last_value = { value: 7, timestamp: '2026-02-28T10:00:00.000Z' };
  answerWith([aDevice([{ id: 'a', last_value }, { id: 'b' }])]);
  become('connecting');
  timers.advance(liveLimits.pollAfterMs);
  await turn();
  paint();
  assert.equal(live.state.value, 'polling');
  assert.equal(watch.values.value.get('a')?.value, 7);
  assert.equal(watch.actuators.value.get('pump'), true);
  become('offline');
  assert.equal(live.state.value, 'polling');
  timers.advance(liveLimits.pollMs);
  await turn();
  assert.equal(counts().fetches, 2);
  answerWith(undefined);
  timers.advance(liveLimits.pollMs);
  await turn();
  assert.equal(live.state.value, 'offline');
  const missed = { value: 8, timestamp: '2026-02-28T10:01:00.000Z' };
  answerWith([aDevice([{ id: 'a', last_value: missed }])]);
  become('live');
  timers.advance(liveLimits.pollMs * 3);
  await turn();
  paint();
  // Once more, for what came while nothing was heard.
  assert.equal(counts().fetches, 4);
  assert.equal(watch.values.value.get('a')?.value, 8);
  assert.equal(live.state.value, 'live');
});

test('where not even fetching works the state says so, and it is tried again', async () => {
  const { live, become, timers, counts } = createStage();
  live.watchDevice({ id: 'd1' });
  become('offline');
  timers.advance(liveLimits.pollAfterMs);
  await turn();
  assert.equal(live.state.value, 'offline');
  timers.advance(liveLimits.pollMs);
  await turn();
  assert.equal(counts().fetches, 2);
});

test('arrays and bare values are read as pushes are', () => {
  const read = (text: string) => readValueMessage('devices/d/sensors/s/value', bytes(text))?.values;
  assert.deepEqual(read('[{"value":1},{"value":2}]'), [{ value: 1 }, { value: 2 }]);
  assert.deepEqual(read('[1,2]'), [{ value: [1, 2] }]);
  assert.deepEqual(read('"on"'), [{ value: 'on' }]);
  assert.deepEqual(read('null'), [{ value: null }]);
});

test('what came before a correction does not show once there is one', () => {
  const { live, push, paint } = createStage();
  const watch = live.watchDevice(aDevice([{ id: 'TC' }]));
  push('devices/d1/sensors/TC/value', '{"value": 20}');
  paint();
  assert.equal(watch.values.value.get('TC')?.value, 20);
  const point = (sensor_value: number, real_value: number) => ({ sensor_value, real_value });
  const calib = { linear: { value_min: point(0, 5), value_max: point(100, 205) } };
  const again = live.watchDevice(aDevice([{ id: 'TC', calib }]));
  assert.equal(again.values.value.get('TC'), undefined);
  push('devices/d1/sensors/TC/value', '{"value": 20}');
  paint();
  assert.equal(again.values.value.get('TC')?.value, 45);
});

test('a value that was measured earlier does not take the place of a newer one', () => {
  const { live, push, paint } = createStage();
  const watch = live.watchDevice({ id: 'd1' });
  const heard: LiveDatapoint[] = [];
  watch.listen((datapoints) => heard.push(...datapoints));
  push('devices/d1/sensors/T/value', '{"value":12,"timestamp":"2026-03-01T12:00:00Z"}');
  push('devices/d1/sensors/T/value', '{"value":4,"timestamp":"2026-03-01T08:00:00Z"}');
  paint();
  assert.equal(watch.values.value.get('T')?.value, 12);
  push('devices/d1/sensors/T/value', '{"value":5,"timestamp":"2026-03-01T09:00:00Z"}');
  paint();
  assert.equal(watch.values.value.get('T')?.value, 12);
  // A chart draws them all.
  assert.equal(heard.length, 3);
});

test('of a late value the newest is asked for, once, and again after corrections', async () => {
  const { live, newest, asked } = createStage();
  const late: Datapoint = {
    ...{ value: 4, timestamp: '2026-03-01T08:00:00.000Z' },
    date_received: '2026-03-01T12:00:05.000Z',
  };
  const inTime = { ...late, timestamp: '2026-03-01T12:00:04.000Z' };
  const device = aDevice([
    { id: 'T', last_value: late },
    { id: 'H', last_value: inTime },
    { id: 'N' },
    { id: 'U', last_value: { value: 1, date_received: late.date_received ?? '' } },
  ]);
  newest.set('d1/T', { value: 12, timestamp: '2026-03-01T12:00:00.000Z' });
  const watch = live.watchDevice(device);
  live.loaded([device]);
  live.loaded([device]);
  await turn();
  assert.deepEqual(asked, ['d1/T']);
  assert.equal(watch.values.value.get('T')?.value, 12);
  newest.set('d1/T', { value: 11, timestamp: '2026-03-01T11:00:00.000Z' });
  live.forget();
  assert.equal(watch.values.value.size, 0);
  live.loaded([device]);
  await turn();
  assert.equal(watch.values.value.get('T')?.value, 11);
});

test('newest values are asked for a few at a time', async () => {
  const { live, asked } = createStage();
  const last_value: Datapoint = {
    ...{ value: 4, timestamp: '2026-03-01T08:00:00.000Z' },
    date_received: '2026-03-01T12:00:05.000Z',
  };
  const sensors = Array.from({ length: 20 }, (_, n) => ({ id: `T${n}`, last_value }));
  live.watchDevice({ id: 'd1' });
  live.loaded([aDevice(sensors)]);
  assert.equal(asked.length, liveLimits.newestAtOnce);
  await turn();
  assert.equal(asked.length, 20);
});
