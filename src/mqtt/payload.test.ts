import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DomainError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { readPublishedSetting, readPublishedValues } from './payload.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

test('any JSON value is itself, an object its value, an array of objects several', () => {
  const value = fc.jsonValue().filter((one) => typeof one !== 'object' || one === null);
  fc.assert(
    fc.property(value, (one) => {
      const expected = Object.is(one, -0) ? 0 : one;
      const bare = readPublishedValues(bytes(JSON.stringify(one)));
      assert.deepEqual(bare, { datapoints: [{ value: expected }], form: 'bare' });
      const whole = readPublishedValues(bytes(JSON.stringify({ value: one })));
      assert.deepEqual(whole, { datapoints: [{ value: expected }], form: 'object' });
      const several = readPublishedValues(bytes(JSON.stringify([{ value: one }, { value: 1 }])));
      assert.deepEqual(several.datapoints, [{ value: expected }, { value: 1 }]);
    }),
  );
});

test('whatever bytes are published, they are values or refused as invalid', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (payload) => {
      for (const read of [readPublishedValues, readPublishedSetting]) {
        try {
          read(payload);
        } catch (error) {
          assert.ok(error instanceof DomainError && error.code === 'invalid', String(error));
        }
      }
    }),
  );
});

test('a setting is as large as an actuator keeps', () => {
  const most = 'x'.repeat(limits.actuatorValueBytesMax - 2);
  assert.equal(readPublishedSetting(bytes(JSON.stringify(most))), most);
  assert.throws(() => readPublishedSetting(bytes(JSON.stringify(`${most}x`))), DomainError);
});

test('deep nesting is refused', () => {
  const depth = limits.jsonDepthMax + 1;
  assert.throws(
    () => readPublishedValues(bytes('['.repeat(depth) + ']'.repeat(depth))),
    DomainError,
  );
});
