import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expressionOf } from '../../dashboard/alerts/sentence.ts';
import { parseExpression } from '../../src/domain/notifications/expression.ts';
import { anySentence } from './any-sentence.ts';

test('the service reads every expression that the form writes, and means the same', () => {
  fc.assert(
    fc.property(anySentence, (form) => {
      const { tests, silences, clear, forMs } = parseExpression(expressionOf(form));
      const silent = form.conditions.filter(({ kind }) => kind === 'silent');
      assert.equal(tests.length, form.conditions.length - silent.length);
      assert.deepEqual(
        silences.map(({ sensorId, durationMs }) => [sensorId, durationMs / 1_000]),
        silent.map((one) => (one.kind === 'silent' ? [one.sensor, one.seconds] : [])),
      );
      assert.equal(forMs, form.forSeconds * 1_000);
      assert.deepEqual(
        clear.map(({ name }) => name),
        form.clear === undefined ? [] : [form.clear.sensor],
      );
    }),
    { numRuns: 500 },
  );
});
