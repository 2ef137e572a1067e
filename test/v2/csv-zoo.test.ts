import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readCsvRows } from '../../dashboard/screens/device/csv-rows.ts';
import { findTimeZone } from '../../src/lib/time-zone.ts';
import { createApiClient } from '../../tools/client/api-client.ts';
import { importCsv } from '../../tools/import/csv-import.ts';
import { type CsvFile, csvZoo, noCsv } from '../csv-zoo.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { openSensor, type SensorEndpoint } from './sensor-endpoint.ts';

let service: Service;
let directory: string;

before(async () => {
  service = await startService();
  directory = mkdtempSync(join(tmpdir(), 'kipimo-csv-zoo-'));
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** Takes a file in, and answers the lines that were refused. */
type Taker = (file: Omit<CsvFile, 'stored'>, sensor: SensorEndpoint) => Promise<readonly number[]>;

const bytesFor = ({ bytes }: Pick<CsvFile, 'bytes'>, sensor: SensorEndpoint): Uint8Array =>
  bytes(sensor.deviceId, sensor.sensorId);

/** All rows or none: it says the first row that is refused. */
const byApi: Taker = async (file, sensor) => {
  const query = file.zone === undefined ? '' : `?timezone=${encodeURIComponent(file.zone)}`;
  const reply = await service.call({
    ...{ method: 'POST', path: `${sensor.path}/values${query}`, body: bytesFor(file, sensor) },
    headers: { 'content-type': 'text/csv' },
  });
  if (reply.status === 204) return [];
  assertRefused(reply, 400, { of: file.name });
  const { description } = reply.json as { readonly description: string };
  const line = /^line (\d+)/.exec(description)?.[1];
  if (line === undefined || !/^line \d+: (?:the row|the value|timestamp)/.test(description)) {
    throw new Error(description);
  }
  return [Number(line)];
};

const byCommand: Taker = async (file, { deviceId, sensorId, ...sensor }) => {
  const path = join(directory, 'file.csv');
  writeFileSync(path, bytesFor(file, { deviceId, sensorId, ...sensor }));
  const client = createApiClient({
    url: service.url,
    signal: new AbortController().signal,
    wait: () => Promise.resolve(),
  });
  const lines: number[] = [];
  const zone = file.zone === undefined ? undefined : findTimeZone(file.zone);
  await importCsv({ file: path, isCreating: false, deviceId, sensorId, zone }, client, {
    onRefused: (line) => lines.push(line),
    onProgress: () => undefined,
  });
  return lines;
};

const byDashboard: Taker = async (file, sensor) => {
  const { deviceId, sensorId } = sensor;
  const given = { device: deviceId, sensor: sensorId, zone: file.zone ?? '' };
  const rows = readCsvRows(bytesFor(file, sensor), given);
  const lines = rows.flatMap((row) => ('json' in row ? row.json : []));
  const reply = await service.call({
    ...{ method: 'POST', path: '/sensors_data?import=true', body: lines.join('\n') },
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.equal((reply.json as { readonly stored: number }).stored, lines.length, reply.text);
  return rows.flatMap((row) => ('refusal' in row ? row.line : []));
};

const takers = { API: byApi, 'command line': byCommand, dashboard: byDashboard };

/** Values as the JSON text that a read answers, which has all their digits. */
async function storedBy(
  sensor: SensorEndpoint,
  file: CsvFile,
): Promise<readonly (readonly [string | undefined, string])[]> {
  const { text } = await sensor.read('?limit=100');
  const each = /"timestamp":"([^"]+)","value":(.*?),"date_received"|"value":(.*?),"date_rec/g;
  const isTimed = file.stored.some(([time]) => time !== undefined);
  return [...text.matchAll(each)].map(([, time, timed, untimed]) =>
    isTimed ? [time, timed ?? ''] : [undefined, untimed ?? ''],
  );
}

for (const file of csvZoo) {
  test(`one file is the same values by API, command line and dashboard: ${file.name}`, async () => {
    for (const [name, take] of Object.entries(takers)) {
      const sensor = await openSensor(service);
      const lines = await take(file, sensor);
      assert.deepEqual(lines, file.refused ?? [], name);
      const isWhole = name !== 'API' || lines.length === 0;
      assert.deepEqual(await storedBy(sensor, file), isWhole ? file.stored : [], name);
    }
  });
}

test('what is no CSV is refused alike by all three, with its line', async () => {
  for (const { name, bytes, says } of noCsv) {
    for (const take of Object.values(takers)) {
      const sensor = await openSensor(service);
      await assert.rejects(take({ name, bytes: () => bytes }, sensor), { message: says }, name);
      assert.deepEqual(await sensor.all(), []);
    }
  }
});

test('a timezone that is none is refused by its name', async () => {
  const sensor = await openSensor(service);
  const path = `${sensor.path}/values?timezone=Mars/Base`;
  const headers = { 'content-type': 'text/csv' };
  const body = 'timestamp,value\n2026-03-20 12:00,1\n';
  const reply = await service.call({ method: 'POST', path, body, headers });
  assertRefused(reply, 400, { saying: /timezone must be a name such as Africa\/Nairobi/ });
  assertDone(await sensor.send(body, { type: 'text/csv' }));
});
