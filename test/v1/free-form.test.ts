import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Service, startService } from '../service.ts';

let service: Service;

before(async () => {
  service = await startService();
  const json = { id: 'S', sensors: [{ id: 'TC1' }] };
  const reply = await service.call({ method: 'POST', path: '//api/v2/devices', json });
  assert.equal(reply.status, 204, reply.text);
});

after(() => service[Symbol.asyncDispose]());

const words = ['device', 'devices', 'device_id', 'sensor', 'sensors', 'sensor_id', 'measurements'];
words.push(
  'measurement_id',
  'action',
  'notification',
  'value',
  'meta',
  'devices:view',
  '__proto__',
);

const keys = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, fc.string());

/** Any JSON value, with words of the API as keys and texts wherever they can be. */
const { json: anything } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constantFrom(...words), fc.jsonValue({ maxDepth: 1 })),
    fc.array(tie('json'), { maxLength: 4 }),
    fc
      .array(fc.tuple(keys, tie('json')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

/** As it is after a way over the wire: -0 is 0 there. */
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const versions = ['v1', 'v2'] as const;

const thingOf = { v1: '//api/v1/sensors', v2: '//api/v2/devices' } as const;

const valuesOf = {
  v1: `${thingOf.v1}/S/measurements/TC1/values`,
  v2: `${thingOf.v2}/S/sensors/TC1/values`,
} as const;

async function read(path: string): Promise<Record<string, unknown>> {
  const { status, text, json } = await service.call({ path });
  assert.equal(status, 200, text);
  return json as Record<string, unknown>;
}

for (const writer of versions) {
  test(`any value pushed by ${writer} is read untouched by both versions`, async () => {
    const property = fc.asyncProperty(anything, async (value) => {
      const json = { value };
      const pushed = await service.call({ method: 'POST', path: valuesOf[writer], json });
      assert.ok(pushed.status < 300, pushed.text);
      for (const reader of versions) {
        const [last] = Object.values(await read(`${valuesOf[reader]}?lastN=1`));
        assert.deepEqual((last as { value: unknown }).value, asSent(value), reader);
        const thing = await read(`${thingOf[reader]}/S`);
        const parts = thing[reader === 'v1' ? 'measurements' : 'sensors'];
        const [{ last_value = undefined } = {}] = parts as { last_value?: { value: unknown } }[];
        assert.deepEqual(last_value?.value, asSent(value), reader);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test(`any meta set by ${writer} is read untouched by both versions`, async () => {
    let made = 0;
    const property = fc.asyncProperty(anything, async (meta) => {
      if (meta === null) return;
      made += 1;
      const id = `${writer}-${made}`;
      const part = [{ id: 'a', meta }];
      const parts = writer === 'v1' ? { measurements: part } : { sensors: part };
      const json = { id, meta, ...parts };
      const created = await service.call({ method: 'POST', path: thingOf[writer], json });
      assert.ok(created.status < 300, created.text);
      for (const reader of versions) {
        const thing = await read(`${thingOf[reader]}/${id}`);
        assert.deepEqual(thing['meta'], asSent(meta), reader);
        const told = thing[reader === 'v1' ? 'measurements' : 'sensors'];
        assert.deepEqual(told, asSent(part), reader);
      }
    });
    await fc.assert(property, { numRuns: 40 });
  });
}

test('an actuator takes any value in either version', async () => {
  const json = { id: 'A', actuators: [{ id: 'pump' }] };
  await service.call({ method: 'POST', path: thingOf.v2, json });
  const property = fc.asyncProperty(
    anything,
    fc.constantFrom(...versions),
    async (value, writer) => {
      const path = `${thingOf[writer]}/A/actuators/pump/value`;
      const reply = await service.call({ method: 'PUT', path, json: value });
      assert.ok(reply.status < 300, reply.text);
      for (const reader of versions) {
        const { json: told } = await service.call({
          path: `${thingOf[reader]}/A/actuators/pump/value`,
        });
        assert.deepEqual(told, asSent(value), reader);
      }
    },
  );
  await fc.assert(property, { numRuns: 40 });
});
