import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiClient, createApiClient } from '../../tools/client/api-client.ts';
import { type CsvImport, importCsv } from '../../tools/import/csv-import.ts';
import { type Service, startService } from '../service.ts';
import { runProgram } from '../service-process.ts';
import { datapointsOf, doorOf, minute, openSensor, valuesOf } from '../v2/sensor-endpoint.ts';

let service: Service;
let directory: string;
let client: ApiClient;

before(async () => {
  service = await startService();
  directory = mkdtempSync(join(tmpdir(), 'kipimo-csv-'));
  const { signal } = new AbortController();
  client = createApiClient({ url: service.url, signal, wait: () => Promise.resolve() });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface Outcome {
  readonly stored: number;
  readonly refused: number;
  readonly lines: readonly number[];
  readonly progress: readonly number[];
}

function fileWith(text: string): string {
  const file = join(directory, 'rows.csv');
  writeFileSync(file, text);
  return file;
}

async function run(text: string, work: Partial<CsvImport> = {}): Promise<Outcome> {
  const lines: number[] = [];
  const progress: number[] = [];
  const report = await importCsv({ file: fileWith(text), isCreating: false, ...work }, client, {
    onRefused: (line) => lines.push(line),
    onProgress: (done, total) => progress.push(done / total),
  });
  return { ...report, lines, progress };
}

test('a file of many batches arrives whole, and a second run stores nothing twice', async () => {
  const { deviceId, sensorId, ...sensor } = await openSensor(service);
  const rows = Array.from({ length: 12_000 }, (_, n) => `${minute(n)},${n}\n`).join('');
  for (const _ of ['first', 'second']) {
    const outcome = await run(rows, { deviceId, sensorId });
    assert.deepEqual([outcome.stored, outcome.refused], [12_000, 0]);
    assert.equal(outcome.progress.at(-1), 1);
  }
  assert.deepEqual(
    valuesOf(await sensor.all()),
    Array.from({ length: 12_000 }, (_, n) => n),
  );
});

test('refused rows are told by their line in the file, and the others are stored', async () => {
  const { deviceId, ...sensor } = await openSensor(service);
  const text = [
    'timestamp,value,sensor_id',
    `${minute(1)},"two\nlines",TC1`,
    'yesterday,2,TC1',
    `${minute(3)},3,none`,
    `${minute(4)},4,`,
    `${minute(5)},5,TC1`,
  ].join('\n');
  const outcome = await run(text, { deviceId });
  assert.deepEqual([outcome.stored, outcome.refused], [2, 3]);
  assert.deepEqual(outcome.lines.toSorted(), [4, 5, 6]);
  assert.deepEqual(valuesOf(await sensor.all()), ['two\nlines', 5]);
  const nowhere = await run(`${minute(1)},1\n`);
  assert.deepEqual([nowhere.stored, nowhere.lines], [0, [1]]);
});

test('rows before a broken quote are stored, and the line of the quote is told', async () => {
  const { deviceId, sensorId, ...sensor } = await openSensor(service);
  await assert.rejects(
    run(`${minute(1)},1\n${minute(2)},"open`, { deviceId, sensorId }),
    /line 2: a quote is never closed/,
  );
  assert.deepEqual(valuesOf(await sensor.all()), [1]);
});

test('an export goes back into a service that has none of it, when it may create', async () => {
  const device = { id: '*odd-1', sensors: [{ id: 'TC1' }, { id: '-2*3' }] };
  await service.call({ method: 'POST', path: '/devices', json: device });
  const values = [1.5, '25', '=1+1', 'a,"b"\r\nc', { t: [null] }, '测量'];
  for (const { id } of device.sensors) {
    await doorOf(service, device.id, id).push(
      values.map((value, n) => ({ value, timestamp: minute(n) })),
    );
  }
  const exported = (await service.call({ path: `/devices/${device.id}/export` })).text;
  const all = async () => {
    const reply = await service.call({ path: `/sensors_data?device_id=${device.id}&limit=100` });
    return datapointsOf(reply).map(({ date_received: _, ...others }) => others);
  };
  const before = await all();
  assert.equal(before.length, 12);
  await service.call({ method: 'DELETE', path: `/devices/${device.id}` });
  const without = await run(exported);
  assert.deepEqual([without.stored, without.refused], [0, 12]);
  const created = await run(exported, { isCreating: true });
  assert.deepEqual([created.stored, created.refused], [12, 0]);
  assert.deepEqual(await all(), before);
});

test('kipimo import csv does it from the command line, as a user', async () => {
  await service.tokenOf('ama');
  const file = fileWith(`${minute(1)};1,5\n${minute(2)};2\nnever;3\n`);
  const target = ['--url', service.url, '--device', 'by-command', '--sensor', 'S', '--create'];
  const secret = join(directory, 'ama');
  writeFileSync(secret, 'password of ama\n');
  const account = ['--username', 'ama', '--password-file', secret];
  const done = await runProgram(['import', 'csv', file, ...target, ...account], { directory });
  assert.equal(done.code, 1, done.stderr);
  assert.match(done.stderr, /^kipimo: line 3: timestamp must be/);
  assert.match(done.stdout, /2 rows are stored, 1 were refused/);
  const values = await service.as('ama')({ path: '/devices/by-command/sensors/S/values' });
  assert.deepEqual(valuesOf(datapointsOf(values)), [1.5, 2]);
  const device = await service.as('ama')({ path: '/devices/by-command' });
  assert.equal((device.json as { owner: string }).owner, 'ama');
});

test('import csv --create makes private devices, and says so', async () => {
  const token = await service.tokenOf('ama');
  const file = fileWith('device_id,sensor_id,value\nfresh-1,T,1\nfresh-2,T,2\n');
  const words = ['import', 'csv', file, '--create', '--url', service.url, '--token', token];
  const { code, stdout } = await runProgram(words, { directory });
  assert.equal(code, 0);
  assert.match(stdout, /Devices made: 2, private\./);
  assert.equal((await service.call({ path: '/devices/fresh-1' })).status, 403);
});

test('without the device, import csv stops after the first page of equal refusals', async () => {
  const rows = Array.from({ length: 12_000 }, (_, n) => `${minute(n)},${n}\n`).join('');
  const work = run(rows, { deviceId: 'nowhere', sensorId: 'T' });
  await assert.rejects(work, /no row can be stored: .*nowhere.*--create/);
});

test('rows with bad ids, or of devices that are not ours, keep no other row out', async () => {
  const admin = service.as('ama');
  const device = { id: 'of-ama', visibility: 'private' };
  assert.equal((await admin({ method: 'POST', path: '/devices', json: device })).status, 204);
  const ids = ['..', '.', '<img src=x>', '"a\u001b[2J"', 'a%2Fb', 'go\0od', '=cmd()', 'of-ama'];
  const hostile = ids.map((id) => `${id},s,${minute(1)},1\n`).join('');
  const rows = `device_id,sensor_id,timestamp,value\n${hostile}good,../x,${minute(1)},1\n`;
  const honest = `good,s,${minute(2)},2\n__proto__,__proto__,${minute(2)},3\n`;
  const outcome = await run(rows + honest, { isCreating: true });
  assert.deepEqual(outcome.lines, [2, 3, 4, 5, 6, 7, 8, 10, 9]);
  assert.deepEqual([outcome.stored, outcome.refused], [2, 9]);
  const values = await service.call({ path: '/devices/__proto__/sensors/__proto__/values' });
  assert.deepEqual(valuesOf(datapointsOf(values)), [3]);
});

test('where no device may be made, --create stops after the first page', async () => {
  const token = await service.tokenOf('ama');
  const key = { name: 'reads', scopes: ['devices:view'] };
  const made = await service.call({ method: 'POST', path: '/auth/keys', token, json: key });
  assert.equal(made.status, 200, made.text);
  const { signal } = new AbortController();
  const reading = createApiClient({ url: service.url, signal, wait: () => Promise.resolve() });
  reading.authorize((made.json as { key: string }).key);
  const rows = Array.from({ length: 12_000 }, (_, n) => `${minute(n)},${n}\n`).join('');
  const work = { file: fileWith(rows), deviceId: 'not-made', sensorId: 'T', isCreating: true };
  const lines: number[] = [];
  const listener = { onRefused: (line: number) => lines.push(line), onProgress: () => undefined };
  await assert.rejects(importCsv(work, reading, listener), /no row can be stored: /);
  assert.ok(lines.length <= 5_000, `${lines.length}`);
});
