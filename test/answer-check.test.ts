import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerCheck, type Exchange, requireDocumented } from './answer-check.ts';

const error = '{"error":"not_found","description":"there is nothing here"}';

const ok: Exchange = {
  method: 'GET',
  path: '/api/v2/groups/G?full=true',
  status: 200,
  contentType: 'application/json; charset=utf-8',
  text: '{"id":"G","name":"Class 4B","owner":"ama","usernames":["kofi"]}',
};

const made = { ...ok, method: 'DELETE', status: 204, contentType: null, text: '' };

const welcome: readonly (readonly [string, Exchange])[] = [
  ['a message of its schema', ok],
  ['no body to HEAD', { ...ok, method: 'HEAD', text: '' }],
  ['no body where none is documented', made],
  ['what the client has already', { ...ok, status: 304, contentType: null, text: '' }],
  ['a documented refusal', { ...ok, status: 404, text: error }],
  ['404 where there is no route', { ...ok, path: '/api/v2/nowhere', status: 404, text: error }],
  ['405 for another method', { ...ok, method: 'PATCH', status: 405, text: error }],
  ['anything outside of the API', { ...ok, path: '/metrics', text: 'up 1' }],
  ['a path of version 1 in any case', { ...ok, path: '/api/v1/GROUPS/G/' }],
  [
    'any JSON where the schema is free',
    { ...ok, path: '/api/v2/devices/D/actuators/pump/value', text: '{"any":[1]}' },
  ],
];

for (const [what, exchange] of welcome) {
  test(`the check of answers takes ${what}`, () => requireDocumented(exchange));
}

const planted: readonly (readonly [string, Exchange, RegExp])[] = [
  ['a missing field', { ...ok, text: '{"id":"G","name":"x","usernames":[]}' }, /owner/],
  ['a field of another type', { ...ok, text: ok.text.replace('"G"', '1') }, /\/id: must be string/],
  ['a field that is null', { ...ok, text: ok.text.replace('"ama"', 'null') }, /\/owner/],
  ['a field that is not documented', { ...ok, text: `{"secret":1,${ok.text.slice(1)}` }, /secret/],
  ['an undocumented status', { ...ok, status: 201 }, /status is not documented/],
  ['another content type', { ...ok, contentType: 'text/html' }, /text\/html is not documented/],
  ['what is no JSON', { ...ok, text: '{"id":' }, /is not JSON/],
  ['a body where none is documented', { ...made, text: '{}' }, /no body/],
  ['a body to HEAD', { ...ok, method: 'HEAD' }, /no body/],
  ['a refusal without its reason', { ...ok, status: 404, text: '{"error":"not_found"}' }, /descr/],
  ['a code that nobody knows', { ...ok, status: 404, text: error.replace('_', '-') }, /\/error/],
  ['a success where there is no route', { ...ok, path: '/api/v2/nowhere' }, /no such route/],
  ['a success of another method', { ...ok, method: 'PATCH' }, /no such route/],
  [
    'a word of version 2 in version 1',
    { ...ok, path: '/api/v1/sensors_data/last?sensor_id=S', text: '[{"device_id":"S"}]' },
    /measurement_id/,
  ],
  [
    'a date that is none',
    {
      ...ok,
      path: '/api/v2/auth/sessions',
      text: '[{"id":"1","name":"x","last_used":"yesterday","address":"::1"}]',
    },
    /last_used: must match format/,
  ],
];

for (const [what, exchange, complaint] of planted) {
  test(`the check of answers refuses ${what}`, () => {
    assert.throws(() => requireDocumented(exchange), complaint);
  });
}

test('a path with a word is another than the one with a parameter in its place', () => {
  const answer = (type: string) => ({
    responses: { 200: { content: { [type]: { schema: {} } } } },
  });
  const paths = { '/a/{id}': { get: answer('text/csv') }, '/a/me': { get: answer('text/plain') } };
  const check = createAnswerCheck({ v2: () => ({ paths, components: { schemas: {} } }) });
  const asked = { ...ok, text: '' };
  assert.equal(check({ ...asked, path: '/api/v2/a/me', contentType: 'text/plain' }), undefined);
  assert.equal(check({ ...asked, path: '/api/v2/a/you', contentType: 'text/csv' }), undefined);
  assert.match(check({ ...asked, path: '/api/v2/a/me', contentType: 'text/csv' }) ?? '', /csv/);
});
