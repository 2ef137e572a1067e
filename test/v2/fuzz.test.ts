import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import { fuzzSeed } from '../fuzz/seed.ts';
import { type Service, startService } from '../service.ts';
import { aNotification } from './a-notification.ts';
import { filled, type Operation, operationsOf, type ValueSchema } from './documented-operations.ts';
import { assertDone } from './refusal.ts';

let service: Service;
let operations: readonly Operation[];
let victimId: string;
let notificationId: string;
let groupId: string;

/** Statuses of the table [contract 2], and of success; 503 would mean that the store gave up. */
const expected: ReadonlySet<number> = new Set([
  200, 204, 400, 401, 403, 404, 405, 413, 415, 422, 429,
]);

/** A service without mail says so to whoever forgot a password. */
const isWithoutMail = (name: string, status: number): boolean =>
  status === 503 && name === 'POST /auth/reset';

before(async () => {
  service = await startService();
  await service.tokenOf('victim');
  const { json: users } = await service.call({ path: '/users?username=victim' });
  victimId = (users as { id: string }[])[0]?.id ?? '';
  const device = { id: 'D', sensors: [{ id: 'TC1' }], actuators: [{ id: 'pump' }] };
  assertDone(await service.call({ method: 'POST', path: '/devices', json: device }));
  await service.call({ method: 'POST', path: '/gateways', json: { id: 'G' } });
  await service.call({ method: 'POST', path: '/projects', json: { id: 'P' } });
  notificationId = await aNotification(service.as('victim'));
  const group = { method: 'POST', path: '/groups', json: { name: 'victims' } };
  groupId = (await service.as('victim')(group)).text;
  operations = (await operationsOf(service)).filter(({ body }) => body !== undefined);
});

after(() => service[Symbol.asyncDispose]());

const words = ['', 'D', 'TC1', 'public', 'null', '__proto__', '5.6,-0.2', '2026-01-01T00:00:00Z'];
words.push('devices:view', '\0', '\ud800', "'", 'number', '25', '1e999', 'guest', 'constructor');

const text = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 40 }));

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  text,
  fc.double(),
  fc.constantFrom(null, true, 0, -1, 1e308, 2 ** 53, [], {}),
);

/** Messages that are nearly right: the fields of the schema, with values that may be anything. */
function near(schema: ValueSchema): fc.Arbitrary<unknown> {
  const right: fc.Arbitrary<unknown>[] = [];
  if (schema.enum !== undefined) right.push(fc.constantFrom(...schema.enum));
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties).map(
      ([key, part]) => [key, near(part)] as const,
    );
    const requiredKeys = fc.constantFrom<string[]>([], [...(schema.required ?? [])]);
    right.push(
      requiredKeys.chain((keys) =>
        fc.record(Object.fromEntries(fields), { requiredKeys: keys, noNullPrototype: true }),
      ),
    );
  }
  if (schema.items !== undefined) right.push(fc.array(near(schema.items), { maxLength: 5 }));
  if (schema.type === 'string' && schema.enum === undefined) right.push(text);
  if (schema.type === 'number') right.push(fc.double({ noNaN: true }));
  if (schema.type === 'boolean') right.push(fc.boolean());
  const [first = anything, ...others] = right;
  return fc.oneof({ weight: 8, arbitrary: fc.oneof(first, ...others) }, anything);
}

/** Sometimes the text of the JSON is cut, doubled or changed in one place. */
const damaged = (json: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.tuple(json, fc.nat({ max: 9 }), fc.nat()).map(([value, kind, place]) => {
    const written = JSON.stringify(value) ?? '';
    const at = written.length === 0 ? 0 : place % written.length;
    if (kind === 0) return written.slice(0, at);
    if (kind === 1) return `${written.slice(0, at)}}${written.slice(at)}`;
    return kind === 2 ? written + written : written;
  });

const partOfPath = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  fc.constantFrom('none', '__proto__', '%00', 'a%20b', 'me'),
);

const contentType = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'text/plain; charset=utf-8', 'application/xml', 'x/y+json'),
);

interface Shot {
  readonly path: string;
  readonly body: string;
  readonly type: string;
}

function shotAt({ path, body }: Operation): fc.Arbitrary<Shot> {
  const parts = { device: partOfPath, sensor: partOfPath, user: partOfPath };
  const json = damaged(near(body?.schema ?? {}));
  return fc.record({ body: json, type: contentType, ...parts }).map((chosen) => ({
    path: filled(path, {
      device_id: chosen.device ?? 'D',
      sensor_id: chosen.sensor ?? 'TC1',
      actuator_id: chosen.sensor ?? 'pump',
      gateway_id: chosen.device ?? 'G',
      project_id: chosen.device ?? 'P',
      notification_id: chosen.device ?? notificationId,
      user_id: chosen.user ?? victimId,
      username: chosen.user ?? 'victim',
      group_id: chosen.device ?? groupId,
      session_id: chosen.device ?? 'none',
      channel: 'sms',
      key_id: chosen.device ?? 'none',
      social_id: chosen.device ?? 'none',
    }),
    body: chosen.body,
    type: chosen.type,
  }));
}

for (const who of ['guest', 'shooter'] as const) {
  test(`no body that ${who} sends to any endpoint breaks the service`, async (context) => {
    context.diagnostic(`FUZZ_SEED=${fuzzSeed}`);
    const as = service.as(who);
    const seen = new Set<number>();
    for (const operation of operations) {
      // Each try of a password costs a hash; a few are enough.
      const numRuns = /token|password|^POST \/users$/.test(operation.name) ? 8 : 40;
      const { method, name } = operation;
      const property = fc.asyncProperty(shotAt(operation), async (shot) => {
        const reply = await as({ method, ...shot });
        seen.add(reply.status);
        const isExpected = expected.has(reply.status) || isWithoutMail(name, reply.status);
        assert.ok(isExpected, `${name}: ${reply.status} ${reply.text}`);
        if (reply.status < 400) return;
        const { error, description } = reply.json as Record<string, unknown>;
        assert.ok(typeof error === 'string' && typeof description === 'string' && description);
      });
      await fc.assert(property, { seed: fuzzSeed, numRuns, endOnFailure: true });
    }
    // It hit the target too, or it proves nothing.
    for (const status of [204, 400, 404]) assert.ok(seen.has(status), `never ${status}`);
    const after = await service.call({ path: '/devices?limit=1000' });
    assert.equal(after.status, 200);
    assertDone(await as({ method: 'POST', path: '/devices', json: { id: `after-${who}` } }));
  });
}
