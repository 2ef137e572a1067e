import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callInV1 } from './dialect.ts';

test('the dialect of the tests says calls of version 2 to the paths of version 1', () => {
  const json = { id: 'D', sensors: [{ id: 'TC1', meta: { sensors: 1 } }] };
  assert.deepEqual(callInV1({ method: 'POST', path: '/devices', json }), {
    method: 'POST',
    path: '//api/v1/sensors',
    json: { id: 'D', measurements: [{ id: 'TC1', meta: { sensors: 1 } }] },
  });
  const { path } = callInV1({ path: '/devices/D/sensors/TC1/values?lastN=1' });
  assert.equal(path, '//api/v1/sensors/D/measurements/TC1/values?lastN=1');
  const merged = callInV1({ path: '//api/v2/sensors_data?device_id=D&sensor_id=TC1' });
  assert.equal(merged.path, '//api/v1/sensors_data?sensor_id=D&measurement_id=TC1');
});
