import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertRefused } from './refusal.ts';
import { datapointsOf, minute, valuesOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
  const values: readonly (readonly [string, string, number])[] = [
    ['a', 'x', 1],
    ['b', 'x', 2],
    ['a,b', 'x', 3],
    ['a', 'y', 4],
    ['c', 'x', 5],
    ['c', 'y', 6],
    ['c', 'x,y', 7],
  ];
  for (const id of ['a', 'b', 'a,b', 'c']) {
    const sensors = [{ id: 'x' }, { id: 'y' }, ...(id === 'c' ? [{ id: 'x,y' }] : [])];
    const reply = await service.call({ method: 'POST', path: '/devices', json: { id, sensors } });
    assert.equal(reply.status, 204, reply.text);
  }
  const json = values.map(([device_id, sensor_id, value]) => ({
    ...{ device_id, sensor_id, value },
    timestamp: minute(value),
  }));
  const reply = await service.as('admin')({ method: 'POST', path: '/sensors_data', json });
  assert.equal(reply.status, 200, reply.text);
});

after(() => service[Symbol.asyncDispose]());

const read = (query: string, path = '/sensors_data') => service.call({ path: `${path}?${query}` });

/** What is read, and what the last values and the totals say of the same list. */
async function valuesRead(query: string): Promise<readonly unknown[]> {
  const values = valuesOf(datapointsOf(await read(query)));
  const last = valuesOf(datapointsOf(await read(query, '/sensors_data/last')));
  assert.deepEqual([...last].sort(), [...values].sort(), query);
  const total = await read(`${query}&aggregate=sum&across=devices`);
  const [bucket] = total.json as { readonly value: number }[];
  assert.equal(
    bucket?.value,
    (values as number[]).reduce((sum, value) => sum + value, 0),
    query,
  );
  return values;
}

test('a list that as a whole is the id of a device means that device alone', async () => {
  assert.deepEqual(await valuesRead('device_id=a,b'), [3]);
  assert.deepEqual(await valuesRead('device_id=a%2Cb'), [3]);
  assert.deepEqual(await valuesRead('device_id=b,a'), [1, 2, 4]);
  assert.deepEqual(await valuesRead('device_id=a,b,'), [1, 2, 4]);
  assert.deepEqual(await valuesRead('device_id=a&device_id=a,b'), [1, 3, 4]);
  assert.deepEqual(await valuesRead('device_id=a,b&device_id=a,b'), [3]);
  assert.deepEqual(await valuesRead('device_id=a&device_id=b'), [1, 2, 4]);
  const many = Array.from({ length: 40 }, () => 'a,b').join(',');
  assert.deepEqual(await valuesRead(`device_id=${many}`), [1, 2, 4]);
});

test('a list that as a whole is the id of a sensor means that sensor alone', async () => {
  assert.deepEqual(await valuesRead('device_id=c&sensor_id=x,y'), [7]);
  assert.deepEqual(await valuesRead('device_id=c&sensor_id=y,x'), [5, 6]);
  assert.deepEqual(await valuesRead('device_id=c&sensor_id=x&sensor_id=x,y'), [5, 7]);
  assert.deepEqual(await valuesRead('device_id=a&sensor_id=x,y'), [1, 4]);
  assert.deepEqual(await valuesRead('device_id=a,c&sensor_id=x,y'), [7]);
});

test('a list of a project or a filter takes the ids of its devices as they are', async () => {
  const found = await read("q=id=='a,b'&sensor_id=x,y");
  assert.deepEqual(valuesOf(datapointsOf(found)), [3]);
});

test('version 1 reads its lists alike', async () => {
  const found = await service.call({ path: '//api/v1/sensors_data?sensor_id=a,b' });
  assert.deepEqual(valuesOf(datapointsOf(found)), [3]);
});

test('a list that names what is not there is refused by name', async () => {
  assertRefused(await read('device_id=a,nowhere'), 404, { saying: /nowhere/ });
  assertRefused(await read('device_id=,'), 400, { saying: /device_id/ });
  assertRefused(await read('device_id=c&sensor_id=x,nowhere'), 404, { saying: /nowhere/ });
  assertRefused(await read('device_id=c&sensor_id=,'), 400, { saying: /sensor_id/ });
});
