import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { guest } from '../../domain/actor.ts';
import { invalid } from '../../domain/errors.ts';
import { v2Spelling } from '../../wire/spelling.ts';
import { json, list } from '../answer.ts';
import { asSent, bareBody, jsonBody, pushBody, type RouteBody } from '../body.ts';
import { EdgeError } from '../errors.ts';
import type { Route, RouteRequest } from '../route.ts';
import { v1Spelling } from './index.ts';
import { translateRoute } from './translate.ts';

const Condition = Type.Object({ devices: Type.Array(Type.String()) });

const asked: RouteRequest = {
  actor: guest,
  params: { sensor_id: 'D', measurement_id: 'TC1' },
  query: { sensor_id: ['D'] },
  body: undefined,
  url: '/',
  accept: undefined,
  authorization: undefined,
  headers: {},
  address: '127.0.0.1',
  raw: new IncomingMessage(new Socket()),
  spelling: v2Spelling,
};

function routeWith(parts: {
  readonly handle: Route['handle'];
  readonly body?: RouteBody;
  readonly answer?: TSchema;
}): Route {
  const { handle, body, answer = Type.Unknown() } = parts;
  return translateRoute(
    {
      method: 'POST',
      path: '/devices/:device_id/sensors/:sensor_id',
      tag: 'Devices',
      summary: 'Ask a device',
      query: Type.Object({ device_id: Type.Optional(Type.Array(Type.String())) }),
      ...(body !== undefined && { body }),
      answer: { status: 200, description: 'A sensor.', content: { 'application/json': answer } },
      errors: [],
      handle,
    },
    v1Spelling,
  );
}

/** What the handler of version 2 is handed. */
async function handedOver(request: Partial<RouteRequest>, body?: RouteBody): Promise<RouteRequest> {
  let seen: RouteRequest | undefined;
  const route = routeWith({
    handle: async (handed) => {
      seen = handed;
      return json(null);
    },
    ...(body !== undefined && { body }),
  });
  await route.handle({ ...asked, ...request });
  assert.ok(seen !== undefined);
  return seen;
}

test('a route is told in the words of version 1', () => {
  const { path, tag, summary, query, answer } = routeWith({ handle: async () => json(null) });
  assert.equal(path, '/sensors/:sensor_id/measurements/:measurement_id');
  assert.deepEqual([tag, summary], ['Sensors', 'Ask a sensor']);
  assert.deepEqual(Object.keys(query?.properties ?? {}), ['sensor_id']);
  assert.equal(answer.description, 'A measurement.');
});

test('the handler gets parameters, query and spelling in its own words', async () => {
  const { params, query, spelling } = await handedOver({});
  assert.deepEqual(params, { device_id: 'D', sensor_id: 'TC1' });
  assert.deepEqual(query, { device_id: ['D'] });
  assert.equal(spelling, v1Spelling);
});

test('a message is renamed, and so is a bare value that is one', async () => {
  const message = { sensors: ['D'], devices: 1 };
  const ofV2 = { devices: ['D'] };
  const { body } = await handedOver({ body: message }, jsonBody(Condition, asSent));
  assert.deepEqual(body, ofV2);
  const bare = async (text: string, isJson: boolean) =>
    (await handedOver({ body: { text, isJson } }, bareBody(Condition, asSent))).body;
  assert.deepEqual(await bare(JSON.stringify(message), true), {
    text: JSON.stringify(ofV2),
    isJson: true,
  });
  for (const text of ['"sensors"', 'sensors']) {
    assert.deepEqual(await bare(text, false), { text, isJson: false });
  }
});

test('a push is handed over as it is', async () => {
  const body = { kind: 'json', value: { sensors: 1 } };
  const handed = await handedOver({ body }, pushBody(Type.Array(Condition), asSent));
  assert.equal(handed.body, body);
});

test('an answer is renamed whole or step by step', async () => {
  const answer = Type.Array(Condition);
  const messages = [{ devices: ['a'] }, { devices: ['b'] }];
  const renamed = [{ sensors: ['a'] }, { sensors: ['b'] }];
  const whole = await routeWith({ handle: async () => json(messages), answer }).handle(asked);
  assert.ok(whole.kind === 'json');
  assert.deepEqual(whole.message, renamed);
  async function* steps() {
    yield messages.slice(0, 1);
    yield messages.slice(1);
  }
  const streamed = await routeWith({ handle: async () => list(steps()), answer }).handle(asked);
  assert.ok(streamed.kind === 'list');
  assert.deepEqual((await Array.fromAsync(streamed.steps)).flat(), renamed);
});

test('a refusal keeps its code and headers and quotes no more than the first texts', async () => {
  const refused = (reason: unknown, body: unknown) =>
    routeWith({
      handle: () => {
        throw reason;
      },
    }).handle({ ...asked, body });
  const many = Array.from({ length: 5_000 }, (_, index) => `device ${index}`);
  await assert.rejects(async () => refused(invalid('device 7 is no device'), many), {
    code: 'invalid',
    message: 'device 7 is no sensor',
  });
  const edge = new EdgeError('method_not_allowed', 'no device', { allow: 'GET' });
  await assert.rejects(async () => refused(edge, undefined), {
    message: 'no sensor',
    headers: { allow: 'GET' },
  });
  const bug = new TypeError('device is not a function');
  await assert.rejects(async () => refused(bug, undefined), bug);
});
