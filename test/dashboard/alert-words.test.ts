import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelNames } from '../../dashboard/api/alert-types.ts';
import { alerts } from '../../dashboard/i18n/en/alerts.ts';
import { evaluationOutcomes } from '../../src/domain/notifications/evaluations.ts';
import { channelNames as channels } from '../../src/domain/notifications/notification.ts';

test('every outcome of an evaluation, and every channel, has words on the screens', () => {
  const lacking = Object.keys(evaluationOutcomes).filter((name) => !(`why-${name}` in alerts));
  assert.deepEqual(lacking, []);
  assert.deepEqual([...channelNames].sort(), [...channels].sort());
});
