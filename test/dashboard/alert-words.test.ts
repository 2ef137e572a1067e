import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelNames, outcomes } from '../../dashboard/api/alert-types.ts';
import { evaluationOutcomes } from '../../src/domain/notifications/evaluations.ts';
import { channelNames as channels } from '../../src/domain/notifications/notification.ts';

test('every outcome of an evaluation, and every channel, has words on the screens', () => {
  const worded: ReadonlySet<string> = new Set(outcomes);
  const lacking = Object.keys(evaluationOutcomes).filter((outcome) => !worded.has(outcome));
  assert.deepEqual(lacking, []);
  assert.deepEqual([...channelNames].sort(), [...channels].sort());
});
