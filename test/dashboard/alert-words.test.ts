import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelNames } from '../../dashboard/api/alert-types.ts';
import { alerts } from '../../dashboard/i18n/en/alerts.ts';
import { usage } from '../../dashboard/i18n/en/usage.ts';
import { budgetTable } from '../../src/domain/budgets/budget-table.ts';
import { evaluationOutcomes } from '../../src/domain/notifications/evaluations.ts';
import { channelNames as channels } from '../../src/domain/notifications/notification.ts';

test('every outcome of an evaluation, and every channel, has words on the screens', () => {
  const lacking = Object.keys(evaluationOutcomes).filter((name) => !(`why-${name}` in alerts));
  assert.deepEqual(lacking, []);
  assert.deepEqual([...channelNames].sort(), [...channels].sort());
});

test('every budget has a name on the screen Usage', () => {
  const lacking = Object.keys(budgetTable).filter((name) => !(name in usage));
  assert.deepEqual(lacking, []);
});
