import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { singleBatch } from '../src/domain/datapoints/column-batch.ts';
import { parseCorrectionId } from '../src/domain/ids.ts';
import { silentLog } from '../src/lib/log.ts';
import { openPostgres } from '../src/storage/postgres/postgres-storage.ts';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
} from '../test/contract/storage/builders.ts';
import { aNotification } from '../test/contract/storage/notifications.contract.ts';
import { schemaUrl, startPostgres } from '../test/postgres-server.ts';

// What one of several processes does a second beside a neighbour that holds the lock of all for
// 100 of each 110 ms, as one behind a slow link does: eight callers, each kind of change alone.
// node bench/slow-neighbour.ts

const callers = 8;
const kindMs = 4_000;

await using opened = new AsyncDisposableStack();
const server = await startPostgres({ isDurable: true });
opened.defer(() => server.close());
const url = await schemaUrl(server.url, 'slow');

async function openProcess() {
  const storage = await openPostgres({ url, log: silentLog, serving: 'shared' });
  opened.defer(() => storage.close());
  return storage;
}

const [one, other] = [await openProcess(), await openProcess()];
const { members, looks } = other;
if (members === undefined || looks === undefined) throw new Error('it serves alone');
const rule = aNotification('n1');
const owner = aUser('ana');
await one.users.insert(owner, 'hash');
const devices = Array.from({ length: callers }, (_, at) => deviceId(`d${at}`));
for (const id of devices) await one.devices.insert(aDevice(id, { sensors: [aSensor('a')] }));
await one.notifications.insert(rule);

const neighbour = new pg.Client({ connectionString: url });
await neighbour.connect();
opened.defer(() => neighbour.end());
const ending = new AbortController();
const holding = holdLock();

async function holdLock(): Promise<void> {
  while (!ending.signal.aborted) {
    await neighbour.query('begin; select from writers where writer = 0 for update');
    await wait(100);
    await neighbour.query('commit');
    await wait(10);
  }
}

let made = 0;

async function measure(
  kind: string,
  change: (deviceId: (typeof devices)[number]) => Promise<unknown>,
): Promise<void> {
  const until = performance.now() + kindMs;
  let count = 0;
  await Promise.all(
    devices.map(async (id) => {
      for (; performance.now() < until; count += 1) await change(id);
    }),
  );
  process.stdout.write(`${kind}: ${Math.round((count * 1_000) / kindMs)}/s\n`);
}

const sensorOf = (id: (typeof devices)[number]) => ({ deviceId: id, sensorId: sensorId('a') });

await measure('pushes', (id) =>
  other.datapoints.append([{ ...sensorOf(id), batch: singleBatch(1, undefined, noon) }]),
);
await measure('corrections, made and undone', async (id) => {
  made += 1;
  const correction = {
    ...{ id: parseCorrectionId(`${made}`.padStart(24, '0')), ...sensorOf(id), items: [], count: 1 },
    ...({ kind: 'removed', by: owner.username, createdAt: noon, from: noon, to: noon } as const),
    reach: { until: noon },
  };
  await other.corrections.insert(correction);
  await other.corrections.remove(sensorOf(id), correction.id);
});
await measure('entries for the others', () => members.log.append('told'));
await measure('steps of retention', (id) => other.retaining.step(sensorOf(id), { rawBefore: 1 }));
await measure('evaluations, filed and ended', async (id) => {
  made += 1;
  const evaluation = `${made}`;
  await looks.file({ id: evaluation, member: looks.member, deviceId: id });
  const state = { notificationId: rule.id, deviceId: id, state: { isRaised: true } } as const;
  await looks.finish({ ids: [evaluation], states: [state] });
});
ending.abort();
await holding;
