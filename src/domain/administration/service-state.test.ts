import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentReporter } from '../reporter.ts';
import { countFailedMessages } from './service-state.ts';

test('messages that were given up are counted by channel, and told on', () => {
  const told: string[] = [];
  const { reporter, failedMessages } = countFailedMessages({
    ...silentReporter,
    deliveryTried: (channel, outcome) => told.push(`${channel} ${outcome}`),
  });
  for (const outcome of ['sent', 'retry', 'failed', 'failed']) {
    reporter.deliveryTried('sms', outcome);
  }
  reporter.deliveryTried('email', 'sent');
  assert.deepEqual([...failedMessages], [['sms', 2]]);
  assert.equal(told.length, 5);
});
