import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aDevice,
  aSensor,
  aUser,
  noon,
  username,
} from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { silentLog } from '../../lib/log.ts';
import { payerOfAccount } from '../budgets/budget.ts';
import { createBudgets } from '../budgets/budgets.ts';
import type { DatapointStore } from '../datapoints/datapoint-store.ts';
import type { DeviceStore } from '../devices/device.ts';
import { guestUsername, type SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { createEvaluations } from './evaluations.ts';
import { createRuleBook } from './rule-book.ts';
import type { Silences } from './silences.ts';
import { createStateBook } from './state-book.ts';

const payer = payerOfAccount('ana');
const ana = username('ana');

/** The store, whose candidates are as many as they may be: its searches narrow nothing. */
const withoutNarrowing = (store: DeviceStore): DeviceStore => ({
  ...store,
  candidates: (search) => store.candidates({ ...search, equals: new Map() }),
});

/** A book over a storage of its own; `watched` are the silences that it waits for. */
async function openBook(datapoints?: Partial<DatapointStore>) {
  const storage = await temporaryStorage();
  await storage.users.insert(aUser('ana'), 'hash');
  const watched: string[] = [];
  const silences = {
    forget: () => undefined,
    watch: ({ deviceId, seenAt }: { deviceId: string; seenAt: number }) =>
      void watched.push(`${deviceId} ${seenAt - noon}`),
  } as never as Silences;
  const book = createRuleBook({
    ...{ store: storage.notifications, users: storage.users },
    devices: withoutNarrowing(storage.devices),
    datapoints: { ...storage.datapoints, ...datapoints },
    states: createStateBook({ store: storage.notifications, log: silentLog }),
    evaluations: createEvaluations(),
    silences: () => silences,
    budgets: createBudgets(),
    reporter: { rowSetAside: () => undefined },
    log: silentLog,
  });
  return { storage, book, watched };
}

const whenSilent = aNotification('n', {
  condition: { devices: [], sensors: ['TC1' as SensorId], expression: 'silent(TC1, 10m)' },
});

test('a rule for all own devices watches them, however many others came before', async () => {
  const { storage, book, watched } = await openBook();
  for (let at = 0; at <= limits.evaluatedDevicesMax; at += 1) {
    await storage.devices.insert(aDevice(`g${at}`, { owner: guestUsername }));
  }
  const sensors = [aSensor('TC1')];
  await storage.devices.insert(aDevice('own', { owner: ana, sensors }));
  const rule = await book.put(whenSilent, { payer, isWatchedAnew: true });
  assert.deepEqual(watched.length, 1);
  assert.match(watched[0] ?? '', /^own /);
  assert.equal(await book.countSilences(rule), 1);
});

test('a silence counts from the last value, be it too large for a list', async () => {
  let read = 0;
  const { storage, book, watched } = await openBook({
    briefLastValues: async (ids) =>
      new Map(ids.map((id) => [id, new Map([['TC1' as SensorId, 'large' as const]])])),
    async lastValue() {
      read += 1;
      return { value: 'x'.repeat(60_000), receivedAt: noon + 7 };
    },
    lastValues: () => assert.fail('all last values were read at once'),
  });
  for (const id of ['d1', 'd2']) {
    const sensors = ['TC1', 'TC2'].map((sensor) => aSensor(sensor));
    await storage.devices.insert(aDevice(id, { owner: ana, sensors }));
  }
  await book.put(whenSilent, { payer, isWatchedAnew: true });
  assert.deepEqual(watched, ['d1 7', 'd2 7']);
  assert.equal(read, 2);
});
