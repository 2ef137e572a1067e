import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';

interface Term {
  readonly id: string;
  readonly label: string;
  readonly quantity_kinds?: readonly string[];
  readonly units?: readonly string[];
}

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

async function termsOf(name: string): Promise<readonly Term[]> {
  const reply = await service.call({ path: `/ontologies/${name}` });
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.headers.get('cache-control') ?? '', /public, max-age=\d+/);
  return reply.json as readonly Term[];
}

test('every vocabulary answers terms with distinct ids and labels', async () => {
  const sizes: Readonly<Record<string, number>> = {
    sensor_kinds: 105,
    quantity_kinds: 130,
    units: 89,
  };
  for (const [name, size] of Object.entries(sizes)) {
    const terms = await termsOf(name);
    assert.equal(terms.length, size, name);
    assert.equal(new Set(terms.map(({ id }) => id)).size, size, name);
    assert.ok(
      terms.every(({ label }) => typeof label === 'string'),
      name,
    );
  }
  assert.deepEqual(await termsOf('actuator_kinds'), []);
});

test('sensor kinds lead to quantity kinds, and those to units', async () => {
  const [kinds, quantities, units] = await Promise.all(
    ['sensor_kinds', 'quantity_kinds', 'units'].map(termsOf),
  );
  const idsOf = (terms: readonly Term[] = []) => new Set(terms.map(({ id }) => id));
  const thermometer = kinds?.find(({ id }) => id === 'AirThermometer');
  assert.deepEqual(thermometer?.quantity_kinds, ['AirTemperature']);
  const named = kinds?.flatMap(({ quantity_kinds = [] }) => quantity_kinds) ?? [];
  assert.deepEqual(
    named.filter((id) => !idsOf(quantities).has(id)),
    [],
  );
  const measured = quantities?.flatMap((quantity) => quantity.units ?? []) ?? [];
  assert.deepEqual(
    measured.filter((id) => !idsOf(units).has(id)),
    [],
  );
});

test('a kind that no vocabulary has is taken all the same', async () => {
  const json = { id: 'field-own-kind', sensors: [{ id: 'S', sensing_device: 'HomeMade' }] };
  const reply = await service.call({ method: 'POST', path: '/devices', json });
  assert.equal(reply.status, 204, reply.text);
});
