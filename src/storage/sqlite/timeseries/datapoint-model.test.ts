import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
} from '../../../../test/contract/storage/builders.ts';
import {
  datapointOf,
  somePage,
  tinyDatapointLimits,
} from '../../../../test/contract/storage/datapoint-arbitraries.ts';
import { push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import {
  createNaiveDatapoints,
  type NaiveDatapoints,
} from '../../../../test/contract/storage/naive-datapoints.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { toDatapoints } from '../../../domain/datapoints/column-batch.ts';
import {
  type DatapointStore,
  type Page,
  readDatapoints,
} from '../../../domain/datapoints/datapoint-store.ts';
import { silentReporter } from '../../../domain/reporter.ts';
import { silentLog } from '../../../lib/log.ts';
import { createDamagedRows } from '../../faults.ts';
import { databasePath, openConnection } from '../connection.ts';
import { openSqlite } from '../sqlite-storage.ts';
import type { Writer } from '../writer.ts';
import { datapointLimits } from './datapoint-limits.ts';
import { createDatapointWrites, createRetentionStepWrites } from './datapoint-writes.ts';
import { createDatapointStore, type SqliteDatapoints } from './datapoints.ts';

/** Nearly every datapoint is flushed, merged, cut and trimmed at once. */
const limits = {
  ...datapointLimits,
  ...tinyDatapointLimits,
  longPushDatapointsMin: 5,
  flushRetryMsMin: 0,
  flushRetryMsMax: 0,
  restMs: 3_600_000,
  // As a list of many devices is read: nothing comes to memory.
  wholeDevicesPerRead: 0,
};

/**
 * A writer whose steps of flushing are carried out, and answered, when the test says so; it dies
 * with its store.
 */
function createHeldWriter(database: DatabaseSync) {
  const writes = { ...createDatapointWrites(database), ...createRetentionStepWrites(database) };
  const held: { readonly carryOut: () => unknown; readonly end: (answer: unknown) => void }[] = [];
  const unanswered: (() => void)[] = [];
  let appending: 'kept' | 'refused' | 'unanswered' = 'kept';
  let onUnanswered: () => void = () => undefined;

  function inTransaction(work: () => unknown): unknown {
    database.exec('begin immediate');
    const answer = work();
    database.exec('commit');
    return answer;
  }

  async function stepInTransaction(work: () => unknown): Promise<unknown> {
    database.exec('begin immediate');
    const answer = await work();
    database.exec('commit');
    return answer;
  }

  async function send(
    name: string,
    args: unknown[],
    transfer: readonly unknown[],
  ): Promise<unknown> {
    const sent = structuredClone(args, { transfer: transfer as ArrayBuffer[] });
    const call = writes[name as keyof typeof writes] as (...all: unknown[]) => unknown;
    const carryOut = () => inTransaction(() => call(...sent));
    if (name !== 'flushDatapoints') {
      if (appending === 'refused') throw new Error('the disk fails');
      const answer = await stepInTransaction(() => call(...sent));
      if (appending !== 'unanswered') return answer;
      onUnanswered();
      return new Promise<never>(() => undefined);
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const end = (answer: unknown) => (answer instanceof Error ? reject(answer) : resolve(answer));
    held.push({ carryOut, end });
    return promise;
  }

  return {
    writer: {
      call: (name: string, ...args: unknown[]) => send(name, args, []),
      callTransfer: (name: string, transfer: readonly unknown[], ...args: unknown[]) =>
        send(name, args, transfer),
    } as unknown as Pick<Writer, 'call' | 'callTransfer'>,
    set appending(how: 'kept' | 'refused') {
      appending = how;
    },
    /** Resolves when the next append is in the log, of which its store has no answer. */
    unanswered(): Promise<void> {
      appending = 'unanswered';
      return new Promise((resolve) => {
        onUnanswered = resolve;
      });
    },
    /** Ends the step of flushing that is under way, if any. */
    flush(how: 'done' | 'answered later' | 'failed' | 'answer lost'): void {
      for (const answer of unanswered.splice(0)) answer();
      const step = held.shift();
      if (step === undefined) return;
      const answer = how === 'failed' ? undefined : step.carryOut();
      if (how === 'done') step.end(answer);
      else if (how === 'answered later') unanswered.push(() => step.end(answer));
      else step.end(new Error('the step fails'));
    },
  };
}

const datapoint = datapointOf(
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom('wet', null, [1.5], 'x'.repeat(600)) },
  ),
);
const somePush = fc
  .record({
    id: fc.constantFrom('s1', 's1', 's2', 's3'),
    points: fc.array(datapoint, { maxLength: 9 }),
  })
  .map(({ id, points }) => push(points, sensor('d1', id)));
const batch = fc.array(somePush, { minLength: 1, maxLength: 4 });
const step = fc.oneof(
  { weight: 8, arbitrary: batch.map((kept) => ({ kept })) },
  { weight: 1, arbitrary: batch.map((refused) => ({ refused })) },
  { weight: 1, arbitrary: batch.map((unanswered) => ({ unanswered })) },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom('done', 'done', 'answered later', 'failed', 'answer lost')
      .map((flush) => ({ flush })),
  },
  { weight: 4, arbitrary: somePage.map((asked) => ({ asked })) },
  { weight: 2, arbitrary: fc.nat({ max: 33 }).map((before) => ({ before })) },
  { weight: 1, arbitrary: fc.constant({ crash: true }) },
);

const all: Page = { order: 'asc', skip: 0, limit: 1_000 };

/** A database with three sensors, and two connections to it. */
async function prepare(directory: string) {
  const storage = await openSqlite({ directory, log: silentLog });
  await storage.users.insert(aUser('alice'), 'hash');
  const sensors = ['s1', 's2', 's3'].map((id) => aSensor(id));
  await storage.devices.insert(aDevice('d1', { sensors }));
  await storage.close();
  const path = databasePath(directory);
  const writer = openConnection(path, { role: 'write' });
  // Nothing outlives the test: the state after a crash is what was committed.
  writer.exec('pragma synchronous = off');
  return { writer, reader: openConnection(path, { role: 'read' }) };
}

async function start(databases: { readonly writer: DatabaseSync; readonly reader: DatabaseSync }) {
  const held = createHeldWriter(databases.writer);
  const store = createDatapointStore({
    reader: databases.reader,
    writer: held.writer,
    log: silentLog,
    damaged: createDamagedRows({ log: silentLog, reporter: silentReporter }),
    limits,
  });
  await store.start();
  return { held, store };
}

type Databases = Awaited<ReturnType<typeof prepare>>;
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Carries the steps out on the store and on a list, and compares them. */
async function run(databases: Databases, steps: readonly Step[]): Promise<void> {
  databases.writer.exec(
    'delete from datapoint_log; delete from chunks; delete from last_values; ' +
      'delete from hourly_summaries; delete from retained_series',
  );
  const naive = createNaiveDatapoints();
  let { held, store } = await start(databases);
  for (const one of steps) {
    if ('kept' in one) {
      const outcomes = await store.append(one.kept);
      for (const [at, pushed] of one.kept.entries()) {
        const fresh = naive.append(pushed, toDatapoints(pushed.batch));
        const outcome = outcomes[at];
        assert.deepEqual(outcome?.kind === 'stored' && toDatapoints(outcome.fresh), fresh);
      }
    } else if ('refused' in one) {
      held.appending = 'refused';
      await store.append(one.refused).catch(() => undefined);
      held.appending = 'kept';
    } else if ('unanswered' in one) {
      await Promise.race([held.unanswered(), store.append(one.unanswered)]);
      for (const pushed of one.unanswered) naive.append(pushed, toDatapoints(pushed.batch));
      ({ held, store } = await start(databases));
    } else if ('crash' in one) {
      ({ held, store } = await start(databases));
    } else if ('before' in one) {
      await takeOld(store, naive, noon + one.before * 1_000);
    } else if ('flush' in one) {
      held.flush(one.flush);
      await turn();
    } else {
      await compare(store, naive, one.asked);
    }
  }
  await compare(store, naive, all);
  ({ held, store } = await start(databases));
  await compare(store, naive, all);
}

/** Takes what is too old of each sensor, as far as it has reached its place. */
async function takeOld(
  store: SqliteDatapoints,
  naive: NaiveDatapoints,
  rawBefore: number,
): Promise<void> {
  for (const id of ['s1', 's2', 's3']) {
    const of = sensor('d1', id);
    let taken = 0;
    for (let step = await store.takeOld(of, { rawBefore }); ; ) {
      taken += step.datapoints;
      if (step.state !== 'more') break;
      step = await store.takeOld(of, { rawBefore });
    }
    // Some may wait for the memtable, or for the chunk after them: the oldest go first.
    const left = await readDatapoints(store, of, { ...all, to: rawBefore - 1 });
    assert.equal(naive.keepOf(of, rawBefore, left), taken);
  }
}

async function compare(store: DatapointStore, naive: NaiveDatapoints, asked: Page): Promise<void> {
  const listed = (await store.lastValues([deviceId('d1')])).get(deviceId('d1'));
  for (const id of ['s1', 's2', 's3']) {
    const of = sensor('d1', id);
    assert.deepEqual(listed?.get(sensorId(id)), naive.lastValue(of));
    const expected = naive.read(of, asked);
    assert.deepEqual(await readDatapoints(store, of, asked), expected);
    const { columns } = await store.scan(of, asked, Number.POSITIVE_INFINITY);
    const scanned = Array.from({ length: columns.count }, (_, row) => columns.at(row));
    assert.deepEqual(scanned, expected);
    assert.equal(await store.count(of, asked), naive.count(of, asked));
    assert.deepEqual(await store.lastValue(of), naive.lastValue(of));
  }
}

/** A busy machine runs as many cases as it can in that time, and at least one. */
const patienceMs = 60_000;

test('appends, flushes, failures and crashes in any order: the answers of a list', async (t) => {
  const databases = await prepare(temporaryDirectory(t));
  t.after(() => databases.reader.close());
  t.after(() => databases.writer.close());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => run(databases, steps)),
    { numRuns: 300, interruptAfterTimeLimit: patienceMs, markInterruptAsFailure: false },
  );
});
