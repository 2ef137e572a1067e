import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { createReader } from './validation.ts';

const Device = Type.Object({
  id: Type.String(),
  sensors: Type.Optional(
    Type.Array(Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }), {
      maxItems: 10,
    }),
  ),
});

test('a list that is too long is refused without a look at what is far behind its end', () => {
  const read = createReader(Device, 'the device');
  let looks = 0;
  const sensors = Array.from({ length: 1_000 }, () => ({
    get id() {
      looks += 1;
      return 's';
    },
  }));
  assert.throws(() => read({ id: 'd', sensors }), {
    code: 'invalid',
    message: /^sensors must not have more than 10 items, got an array$/,
  });
  assert.ok(looks < 100, `${looks} looks`);
});

test('a list of as many as may be there is read, nulls taken as absent', () => {
  const read = createReader(Device, 'the device');
  const sensors = Array.from({ length: 10 }, () => ({ id: 's', name: null }));
  const { sensors: found } = read({ id: 'd', sensors });
  assert.deepEqual(found, Array(10).fill({ id: 's' }));
});

test('a null where something else is wanted is told as it was read', () => {
  const read = createReader(Device, 'the device');
  assert.throws(() => read({ id: 'd', sensors: [null] }), {
    message: /^sensors\[0\] .*, got null$/,
  });
  assert.throws(() => read({ id: {} }), { message: /^id .*, got an object$/ });
});

test('a password that is none is refused without being said again', () => {
  const read = createReader(Type.Object({ password: Type.String({ maxLength: 8 }) }), 'login');
  for (const password of [12345678, 'hunter2 and more']) {
    assert.throws(() => read({ password }), { message: /^password must [^,]*$/ });
  }
});
