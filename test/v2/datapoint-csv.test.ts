import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readCsv, readCsvTexts } from '../csv-reader.ts';
import { type Service, startService } from '../service.ts';
import { minute, openSensor } from './sensor-endpoint.ts';

const header = ['device_id', 'sensor_id', 'value', 'timestamp', 'date_received'];
let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

test('format=csv and Accept: text/csv answer the same rows under the header', async () => {
  const sensor = await openSensor(service);
  await sensor.push([{ value: 21.5, timestamp: minute(1) }, { value: 'undated' }]);
  const [first, second] = await sensor.all();
  const byFormat = await sensor.read('?format=csv');
  const byAccept = await sensor.read('', { accept: 'text/csv' });
  assert.equal(byFormat.status, 200);
  assert.match(byFormat.headers.get('content-type') ?? '', /^text\/csv/);
  assert.equal(byFormat.headers.get('x-total-count'), '2');
  assert.equal(byAccept.text, byFormat.text);
  assert.deepEqual(readCsvTexts(byFormat.text), [
    header,
    [sensor.deviceId, 'TC1', '21.5', minute(1), first?.date_received],
    [sensor.deviceId, 'TC1', 'undated', '', second?.date_received],
  ]);
});

test('a sensor without datapoints answers the header alone', async () => {
  const sensor = await openSensor(service);
  const reply = await sensor.read('?format=csv');
  assert.deepEqual(readCsvTexts(reply.text), [header]);
});

test('CSV takes the same parameters as JSON', async () => {
  const sensor = await openSensor(service);
  await sensor.push([1, 2, 3, 4].map((n) => ({ value: n, timestamp: minute(n) })));
  const values = async (query: string) =>
    readCsvTexts((await sensor.read(`?format=csv&${query}`)).text)
      .slice(1)
      .map((record) => record[2]);
  assert.deepEqual(await values('lastN=2'), ['4', '3']);
  assert.deepEqual(await values('limit=2&offset=1'), ['2', '3']);
  assert.deepEqual(await values(`date_from=${minute(3)}`), ['3', '4']);
  assert.deepEqual(await values('sort=dsc&limit=1'), ['4']);
});

test('commas, quotes, line ends and structures are one quoted cell each', async () => {
  const sensor = await openSensor(service);
  const values = ['a,b', 'say "hi"', 'two\nlines', 'two\r\nlines', '测量', { t: [1, 'x,y'] }];
  await sensor.push(values.map((value, n) => ({ value, timestamp: minute(n) })));
  const cells = readCsv((await sensor.read('?format=csv')).text).map((record) => record[2]);
  assert.deepEqual(
    cells.slice(1).map((cell) => cell?.text),
    values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  );
});

test('a number is written bare, and the same digits as text stand in quotes', async () => {
  const sensor = await openSensor(service);
  const texts = ['25', '"25"', '12345678901234567890', '-0.5', 'true', 'null'];
  for (const text of texts) {
    assert.equal((await sensor.send(`{"value":${text}}`)).status, 204);
  }
  const cells = readCsv((await sensor.read('?format=csv')).text).map((record) => record[2]);
  assert.deepEqual(cells.slice(1), [
    { text: '25', isQuoted: false },
    { text: '25', isQuoted: true },
    { text: '12345678901234567890', isQuoted: false },
    { text: '-0.5', isQuoted: false },
    { text: 'true', isQuoted: false },
    { text: 'null', isQuoted: false },
  ]);
});

test('no cell begins like a formula that a spreadsheet would run', async () => {
  const sensor = await openSensor(service);
  const formulas = ['=1+1', '+cmd', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("x","y")'];
  const harmless = ['-5', '+7', '-1.5e3'];
  await sensor.push(
    [...formulas, ...harmless].map((value, n) => ({ value, timestamp: minute(n) })),
  );
  const cells = readCsvTexts((await sensor.read('?format=csv')).text)
    .slice(1)
    .map((record) => record[2]);
  assert.deepEqual(cells, [...formulas.map((text) => `'${text}`), ...harmless]);
});

test('an id that begins like a formula is made harmless, too', async () => {
  const json = { id: '-2+3'.replace('+', '*'), sensors: [{ id: '@sum' }] };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  const path = `/devices/${json.id}/sensors/@sum/values`;
  await service.call({ method: 'POST', path, json: { value: 1 } });
  const [, record] = readCsvTexts((await service.call({ path: `${path}?format=csv` })).text);
  assert.deepEqual(record?.slice(0, 3), ["'-2*3", "'@sum", '1']);
});
