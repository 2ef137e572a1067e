import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './v2-types.ts';

const [url = '', username = '', password = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: `${url}/api/v2` });

const login = await client.POST('/auth/token', { body: { username, password }, parseAs: 'text' });
const token: string | undefined = login.data;
client.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${token}`);
  },
});

const sensors = [{ id: 'TC1', unit: 'DegreeCelsius' }];
const made = await client.POST('/devices', { body: { id: 'field-2', sensors } });
assert.equal(made.response.status, 204);

const path = { device_id: 'field-2', sensor_id: 'TC1' };
const values = '/devices/{device_id}/sensors/{sensor_id}/values';
const pushed = await client.POST(values, {
  params: { path },
  body: [{ value: 21.5 }, { value: 22 }],
});
assert.equal(pushed.response.status, 204);

const { data: device } = await client.GET('/devices/{device_id}', { params: { path } });
assert.equal(device?.owner, username);
assert.equal(device.sensors[0]?.unit, 'DegreeCelsius');
assert.equal(device.sensors[0].last_value?.value, 22);

const read = await client.GET(values, { params: { path, query: { lastN: 1 } } });
// Or CSV, for who asks for that.
assert.ok(typeof read.data === 'object');
assert.equal(read.data[0]?.value, 22);

const { error } = await client.GET('/devices/{device_id}', {
  params: { path: { device_id: 'nowhere' } },
});
assert.equal(error?.error, 'not_found');
assert.ok(error.description.length > 0);
