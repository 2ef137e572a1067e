import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createV1Paths } from './paths.ts';

const onePath = createV1Paths([
  { path: '/sensors' },
  { path: '/sensors/:sensor_id/measurements/:measurement_id/values' },
  { path: '/auth/token' },
]);

const forms: readonly (readonly [string, string])[] = [
  ['/api/v1/sensors', '/api/v1/sensors'],
  ['/API/V1/Sensors?Limit=3', '/api/v1/sensors?Limit=3'],
  [
    '/api/v1/SENSORS/SENSORS/Measurements/TC1/VALUES',
    '/api/v1/sensors/SENSORS/measurements/TC1/values',
  ],
  ['/api/v1/domains/water/sensors', '/api/v1/sensors'],
  ['/api/v1/Domains/Sensors/Auth/Token', '/api/v1/auth/token'],
  ['/api/v1/domains/water', '/api/v1'],
  ['/api/v1/domains', '/api/v1/domains'],
  ['//api//v1//sensors///a/', '/api/v1/sensors/a'],
  ['/api/v1/sensors/%2e%2E/Measurements', '/api/v1/sensors/%2e%2E/measurements'],
  ['/api/v1/Nothing/Here#There?', '/api/v1/Nothing/Here#There?'],
  ['/api/v1', '/api/v1'],
];

for (const [url, form] of forms) {
  test(`${url} is ${form}`, () => assert.equal(onePath(url), form));
}

test('paths of others stay to the letter', () => {
  for (const url of ['/api/v2//Devices/', '/api/v11/Sensors', '/', '*', '/docs/V1', '']) {
    assert.equal(onePath(url), url);
  }
});
