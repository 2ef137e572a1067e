import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { aDevice, aSensor, aUser } from '../../../../test/contract/storage/builders.ts';
import { at } from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { silentLog } from '../../../lib/log.ts';
import { blocksOf, columnsOf, encodeChunk, toBlock } from '../../chunks/chunk.ts';
import { placeInChunks } from '../../chunks/chunk-placing.ts';
import { type ChunkLimits, chunkOf } from '../../chunks/chunk-store.ts';
import { type Columns, sortByTime, toColumns } from '../../chunks/columns.ts';
import { runAtOnce } from '../../chunks/engine-work.ts';
import { databasePath, openConnection } from '../connection.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { createChunkRenewal } from './chunk-renewal.ts';
import { createChunkTable } from './chunk-table.ts';

const limits: ChunkLimits = {
  chunkDatapointsMax: 4,
  chunkBlocksMax: 3,
  chunkRowBytesMax: 2_000,
  chunkWeightMax: 6,
  summaryDatapointsMin: 6,
};
const series = 1;

interface Context {
  after(end: () => void): void;
}

/** A database with one sensor. */
async function prepared(context: Context): Promise<DatabaseSync> {
  const directory = temporaryDirectory(context);
  const storage = await openSqlite({ directory, log: silentLog });
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('s1'), aSensor('s2')] }));
  await storage.close();
  const database = openConnection(databasePath(directory), { role: 'write' });
  context.after(() => database.close());
  return database;
}

interface Row {
  readonly id: number;
  readonly min_time: number;
  readonly max_time: number;
  readonly count: number;
  readonly datapoints: Uint8Array;
  readonly summary: Uint8Array | null;
}

const rowsOf = (database: DatabaseSync): readonly Row[] =>
  database
    .prepare(
      `select id, min_time, max_time, count, datapoints, summary
       from chunks left join chunk_summaries on chunk = id
       where series = ? order by min_time, max_time, id`,
    )
    .all(series) as unknown as readonly Row[];

const datapointsIn = (columns: Columns): readonly (readonly [number, unknown])[] =>
  Array.from({ length: columns.count }, (_, row) => [
    columns.times[row] ?? 0,
    columns.texts?.[row] ?? columns.numbers[row],
  ]);

/** All datapoints as a reader finds them; what the rows say of them must be so. */
function readAll(database: DatabaseSync): readonly (readonly [number, unknown])[] {
  let before = Number.NEGATIVE_INFINITY;
  return rowsOf(database).flatMap((row) => {
    const blocks = blocksOf(row.datapoints, `${row.id}`);
    const found = blocks.flatMap((block) => datapointsIn(columnsOf(block)));
    assert.equal(found.length, row.count);
    assert.deepEqual([found[0]?.[0], found.at(-1)?.[0]], [row.min_time, row.max_time]);
    assert.ok(row.min_time >= before, 'chunks overlap');
    before = row.max_time;
    if (row.summary !== null) {
      assert.deepEqual(Buffer.from(row.summary), chunkOf(blocks, limits).summary);
    }
    return found;
  });
}

/** Takes the summary of a row, as if it had been written before there were any. */
function downgrade(database: DatabaseSync, nth: number): void {
  const rows = rowsOf(database);
  const row = rows[nth % Math.max(1, rows.length)];
  if (row === undefined) return;
  database.prepare('delete from chunk_summaries where chunk = ?').run(row.id);
}

function walkToEnd(renewal: ReturnType<typeof createChunkRenewal>): boolean {
  const walk = renewal.walk();
  for (let step = walk.next(); ; step = walk.next()) if (step.done === true) return step.value;
}

const commandUntil = (timeMax: number) =>
  fc.oneof(
    fc.record({
      kind: fc.constant('flush' as const),
      times: fc.array(fc.nat({ max: timeMax }), { minLength: 1, maxLength: 8, size: 'max' }),
      text: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('downgrade' as const), nth: fc.nat({ max: 30 }) }),
    fc.record({ kind: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant('start again' as const) }),
  );
/** With two times alone, whole chunks are of one and follow others of the same. */
const history = fc
  .constantFrom(1, 12)
  .chain((timeMax) => fc.array(commandUntil(timeMax), { maxLength: 50, size: 'max' }));

/** Chunks of one time alone that follow a later written one that begins before them. */
const overtaken = [
  [0, 9, 0],
  [11, 0, 9, 2, 11],
  [0, 0],
  [10],
  [0, 0],
  [0, 11, 12, 0, 9, 1, 12],
  [0, 0],
  [12, 0, 0],
  [0, 11, 0, 0],
].map((times) => ({ kind: 'flush' as const, times, text: false }));

test('whatever is flushed between its steps, no datapoint is lost, doubled or moved', async (t) => {
  const database = await prepared(t);
  const chunks = createChunkTable(database)(series, limits);
  fc.assert(
    fc.property(history, (commands) => {
      database.exec('delete from chunks');
      let renewal = createChunkRenewal(database, limits);
      let walk: Generator<void, boolean> | undefined;
      const expected: [number, unknown][] = [];
      let value = 0;
      for (const one of commands) {
        if (one.kind === 'flush') {
          const datapoints = one.times.map((time) => {
            value += 1;
            return at(time, one.text ? `${value}` : value);
          });
          const columns = sortByTime(toColumns(datapoints));
          database.exec('begin');
          assert.equal(runAtOnce(placeInChunks(chunks, columns)), 0);
          database.exec('commit');
          expected.push(
            ...datapointsIn(columns).map(([time, text]): [number, unknown] => [time, text]),
          );
          expected.sort(([a], [b]) => a - b);
        } else if (one.kind === 'downgrade') {
          downgrade(database, one.nth);
        } else if (one.kind === 'start again') {
          renewal = createChunkRenewal(database, limits);
          walk = undefined;
        } else {
          for (let n = 0; n < one.count; n += 1) {
            walk ??= renewal.walk();
            if (walk.next().done === true) walk = undefined;
          }
        }
        assert.deepEqual(readAll(database), expected);
      }
      renewal = createChunkRenewal(database, limits);
      assert.equal(walkToEnd(renewal), true);
      assert.deepEqual(readAll(database), expected);
      for (const { datapoints, count, summary } of rowsOf(database)) {
        assert.equal(datapoints[0], 2);
        assert.equal(summary !== null, count >= limits.summaryDatapointsMin);
      }
    }),
    { numRuns: 60, examples: [[overtaken]] },
  );
});

test('a short chunk that is renewed where it stands gets no summary', async (t) => {
  const database = await prepared(t);
  const chunks = createChunkTable(database)(series, limits);
  const flushes = [[0], [4, 6], [5], [0, 6], [0, 0, 7], [4, 4, 4], [5], [0, 0], [0, 6, 0, 6]];
  for (const [value, times] of [...flushes, [0, 5, 6]].entries()) {
    database.exec('begin');
    const columns = sortByTime(toColumns(times.map((time) => at(time, value))));
    runAtOnce(placeInChunks(chunks, columns));
    database.exec('commit');
  }
  downgrade(database, 0);
  assert.equal(walkToEnd(createChunkRenewal(database, limits)), true);
  for (const { datapoints, count, summary } of rowsOf(database)) {
    assert.equal(datapoints[0], 2);
    assert.equal(summary !== null, count >= limits.summaryDatapointsMin, `${count}`);
  }
});

test('many small rows become few, and the end of a series stays as it is', async (t) => {
  const database = await prepared(t);
  const insert = database.prepare(
    'insert into chunks (series, min_time, max_time, count, datapoints) values (1, ?, ?, 1, ?)',
  );
  database.exec('begin');
  for (let n = 0; n < 1_000; n += 1) {
    const block = toBlock(toColumns([at(n, n)]));
    insert.run(block.minTime, block.maxTime, encodeChunk([block]));
  }
  database.exec('commit');
  const before = readAll(database);
  const large = {
    ...limits,
    chunkDatapointsMax: 64,
    chunkWeightMax: 1_000,
    chunkRowBytesMax: 49_152,
  };
  const renewal = createChunkRenewal(database, large);
  assert.equal(walkToEnd(renewal), true);
  const rows = rowsOf(database);
  assert.ok(rows.length <= 12, `${rows.length}`);
  assert.equal(rows.at(-1)?.count, 1);
  assert.deepEqual(readAll(database), before);
  assert.deepEqual([renewal.figures.replaced, renewal.figures.left], [999, 0]);
  assert.ok(renewal.figures.bytesAfter * 5 < renewal.figures.bytesBefore);
  // A second walk finds nothing to do.
  assert.equal(walkToEnd(renewal), true);
  assert.equal(renewal.figures.replaced, 999);
});

test('what cannot be read stays as it is, and is counted', async (t) => {
  const database = await prepared(t);
  const insert = database.prepare(
    'insert into chunks (series, min_time, max_time, count, datapoints) values (1, ?, ?, ?, ?)',
  );
  for (let n = 0; n < 6; n += 1) {
    // So many that a summary is due.
    const count = limits.summaryDatapointsMin;
    const block = toBlock(toColumns(Array.from({ length: count }, (_, k) => at(n * 10 + k, n))));
    const bytes = encodeChunk([block]);
    // One with a byte that changed, one that says it has more, one of a format to come.
    if (n === 1) bytes[bytes.length - 6] = (bytes[bytes.length - 6] ?? 0) ^ 1;
    if (n === 4) bytes[0] = 3;
    insert.run(block.minTime, block.maxTime, n === 2 ? count + 1 : count, bytes);
  }
  const before = rowsOf(database);
  const renewal = createChunkRenewal(database, limits);
  assert.equal(walkToEnd(renewal), true);
  assert.equal(renewal.figures.unreadable, 3);
  assert.equal(renewal.figures.replaced, 3);
  const after = new Map(rowsOf(database).map((row) => [row.id, row]));
  for (const n of [1, 2, 4]) {
    assert.deepEqual(after.get(before[n]?.id ?? 0)?.datapoints, before[n]?.datapoints);
  }
  assert.equal(after.size, 6);
});
