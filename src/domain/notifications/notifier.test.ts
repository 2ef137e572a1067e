import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, deviceId, username } from '../../../test/contract/storage/builders.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { parseSensorId } from '../ids.ts';
import { silentReporter } from '../reporter.ts';
import { createNotifier, type NotifierParts } from './notifier.ts';

test('what cannot be evaluated again at a start is logged with device and account', async () => {
  const logged: unknown[] = [];
  const sensorId = parseSensorId('TC1');
  const device = aDevice('cold-store', { owner: username('ama') });
  const notifier = createNotifier({
    log: { error: (fields: object, text: string) => logged.push({ ...fields, text }) },
    budgets: createBudgets({}),
    reporter: silentReporter,
    devices: { find: async () => ({ ...device, sensors: [{ id: sensorId }] }) },
    peekDevice: () => undefined,
    book: {
      index: {
        rulesOn: () => {
          throw new Error('it cannot be read');
        },
      },
    },
  } as unknown as NotifierParts);
  const pushes = ['cold-store', 'other'].map((id) => ({
    ...{ deviceId: deviceId(id), sensorId, datapoints: [{ value: 1, receivedAt: 1 }] },
  }));
  await notifier.catchUp({ before: [], pushes } as never);
  const texts = logged.map((one) => {
    const { err, ...others } = one as { err: Error };
    return { ...others, reason: err.message };
  });
  const text = 'what was received last could not be looked at again';
  assert.deepEqual(
    texts,
    pushes.map(({ deviceId: id }) => ({
      ...{ deviceId: id, sensorId, owner: 'ama', text, reason: 'it cannot be read' },
    })),
  );
});
