import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import { silentLog } from '../../lib/log.ts';
import { createWills } from './wills.ts';

test('a will that meets a bug is over, and the bug is in the log', async () => {
  const logged: string[] = [];
  const bytes = createBudgets().of('mqtt_will_bytes');
  const wills = createWills({
    ...{ bytes, clock: { now: () => 0 }, shared: undefined, authority: {} },
    journal: { add() {}, synced: () => undefined, decided: () => undefined },
    log: { ...silentLog, error: (_fields, sentence) => void logged.push(sentence) },
    handOnShares: { turnOf: async () => undefined },
    completion: {
      router: {
        route() {
          throw new Error('a bug');
        },
      },
    } as never,
  });
  const client = {
    payer: payerOfAccount('ann'),
    publish: async () => ({ kind: 'accepted', isPassedOn: true }) as const,
  };
  const message = { topic: 't', payload: Buffer.from('gone'), qos: 0, retain: false } as const;
  assert.ok(wills.keep(client, message));
  wills.leave('k' as never, client, { message, delayMs: 0, turn: 0 });
  await wills.finish();
  assert.deepEqual([logged, bytes.used], [['a last will met a bug'], 0]);
});
