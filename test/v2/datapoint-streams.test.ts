// In a process of its own: it measures memory.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import type { Storage } from '../../src/storage/storage.ts';
import { readCsvTexts } from '../csv-reader.ts';
import { type Service, startService } from '../service.ts';
import { datapointsOf, openSensor, type SensorEndpoint } from './sensor-endpoint.ts';

const pushSize = 30_000;
const largeSize = 300_000;
const start = Date.parse('2016-01-01T00:00:00Z');
/** Asks of the store that one large answer may cost while its client takes nothing. */
const stepsWhilePausedMax = 30;
const bytesWhilePausedMax = 100_000_000;

let steps = 0;
let service: Service;
let large: SensorEndpoint;

before(async () => {
  service = await startService({ wrapStorage: countingReads });
  large = await openSensor(service);
  for (let from = 0; from < largeSize; from += pushSize) await large.push(points(from));
});

after(() => service[Symbol.asyncDispose]());

function countingReads(storage: Storage): Storage {
  const { datapoints } = storage;
  return {
    ...storage,
    datapoints: {
      ...datapoints,
      scan: (sensor, page, charactersMax) => {
        steps += 1;
        return datapoints.scan(sensor, page, charactersMax);
      },
    },
  };
}

function points(from: number): readonly { value: number; timestamp: string }[] {
  return Array.from({ length: pushSize }, (_, index) => ({
    value: from + index,
    timestamp: new Date(start + (from + index) * 1_000).toISOString(),
  }));
}

/** Each pair the other way round: out of order, but never far, so that any engine is quick. */
function swapped<Element>(elements: readonly Element[]): readonly Element[] {
  return elements.map((element, index) => elements[index ^ 1] ?? element);
}

/** Opens a read of everything; nothing is taken from the connection until the caller reads. */
async function openRead(sensor: SensorEndpoint): Promise<IncomingMessage> {
  const url = `${service.url}/api/v2${sensor.path}/values?limit=1000000`;
  const [response] = (await once(get(url), 'response')) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  response.pause();
  return response;
}

/** Waits until the service stops asking its store although it had every chance to. */
async function stepsAtRest(): Promise<number> {
  for (let round = 0; round < 200; round += 1) {
    const seen = steps;
    for (let call = 0; call < 20; call += 1) await service.call({ path: '//healthz' });
    if (steps === seen) return seen;
  }
  throw new Error('the service never came to rest');
}

test('30 000 datapoints pushed twice are stored once and read back whole, in order', async () => {
  const sensor = await openSensor(service);
  const sent = points(0);
  await sensor.push(swapped(sent));
  await sensor.push(sent);
  const reply = await sensor.read('?limit=1000000');
  assert.equal(reply.headers.get('x-total-count'), String(pushSize));
  assert.deepEqual(
    datapointsOf(reply).map(({ value, timestamp }) => ({ value, timestamp })),
    sent,
  );
  const csv = readCsvTexts((await sensor.read('?limit=1000000&format=csv')).text);
  assert.deepEqual(
    csv.slice(1).map((record) => ({ value: Number(record[2]), timestamp: record[3] })),
    sent,
  );
});

test('an answer of 300 000 datapoints arrives whole and in order', async () => {
  const values = datapointsOf(await large.read('?limit=1000000')).map(({ value }) => value);
  assert.equal(values.length, largeSize);
  assert.ok(values.every((value, index) => value === index));
  const newest = datapointsOf(await large.read('?lastN=6000')).map(({ value }) => value);
  assert.ok(newest.every((value, index) => value === largeSize - 1 - index));
  assert.equal(newest.length, 6_000);
});

test('a client that reads nothing stops the service from reading on', async () => {
  steps = 0;
  const before = process.memoryUsage().rss;
  const response = await openRead(large);
  const paused = await stepsAtRest();
  assert.ok(paused < stepsWhilePausedMax, `${paused} steps were read for a paused client`);
  const growth = process.memoryUsage().rss - before;
  assert.ok(growth < bytesWhilePausedMax, `grew by ${growth} bytes for a paused client`);

  let length = 0;
  let tail = '';
  for await (const chunk of response) {
    const text = String(chunk);
    length += text.length;
    tail = (tail + text).slice(-200);
  }
  assert.ok(length > largeSize * 100, `${length} characters arrived`);
  assert.match(tail, new RegExp(`"value":${largeSize - 1},"date_received":"[^"]+"}]$`));
});

test('datapoints that arrive during a slow read neither repeat nor hide others', async () => {
  const sensor = await openSensor(service);
  const isLate = (index: number) => index % 100 === 99;
  const early = points(0).filter((_, index) => !isLate(index));
  await sensor.push(early);
  await sensor.push(points(pushSize));
  const response = await openRead(sensor);
  await sensor.push(points(0).filter((_, index) => isLate(index)));
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const read = (JSON.parse(text) as { value: number }[]).map(({ value }) => value);
  assert.equal(new Set(read).size, read.length);
  assert.ok(read.every((value, index) => index === 0 || value > (read[index - 1] ?? 0)));
  const seen = new Set(read);
  assert.ok(early.every(({ value }) => seen.has(value)));
});

test('clients that leave in the middle of an answer leave nothing behind', async () => {
  for (let time = 0; time < 20; time += 1) {
    const response = await openRead(large);
    await once(response, 'readable');
    response.destroy();
  }
  const atRest = await stepsAtRest();
  assert.equal(await stepsAtRest(), atRest);
  const [newest] = datapointsOf(await large.read('?lastN=1'));
  assert.equal(newest?.value, largeSize - 1);
  await large.push({ value: 'still here', timestamp: new Date(start - 1).toISOString() });
  const [oldest] = datapointsOf(await large.read('?limit=1'));
  assert.equal(oldest?.value, 'still here');
});
