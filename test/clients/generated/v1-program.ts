import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './v1-types.ts';

const [url = '', username = '', password = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: `${url}/api/v1` });

const login = await client.POST('/auth/token', { body: { username, password }, parseAs: 'text' });
const token: string | undefined = login.data;
client.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${token}`);
  },
});

const measurements = [{ id: 'TC1', unit: 'DegreeCelsius' }];
const made = await client.POST('/sensors', { body: { id: 'field-1', measurements } });
assert.equal(made.response.status, 200);

const path = { sensor_id: 'field-1', measurement_id: 'TC1' };
const values = '/sensors/{sensor_id}/measurements/{measurement_id}/values';
const pushed = await client.POST(values, {
  params: { path },
  body: [{ value: 21.5 }, { value: 22 }],
});
assert.equal(pushed.response.status, 200);

const { data: sensor } = await client.GET('/sensors/{sensor_id}', { params: { path } });
assert.equal(sensor?.owner, username);
assert.equal(sensor.measurements[0]?.unit, 'DegreeCelsius');
assert.equal(sensor.measurements[0].last_value?.value, 22);

const read = await client.GET(values, { params: { path, query: { lastN: 1 } } });
// Or CSV, for who asks for that.
assert.ok(typeof read.data === 'object');
assert.equal(read.data[0]?.value, 22);

const { error } = await client.GET('/sensors/{sensor_id}', {
  params: { path: { sensor_id: 'nowhere' } },
});
assert.equal(error?.error, 'not_found');
assert.ok(error.description.length > 0);
