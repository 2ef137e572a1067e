import type { DatabaseSync } from 'node:sqlite';
import {
  bytesPerWeight,
  type ColumnBatch,
  emptyBatch,
  lastRowAmong,
  sliceBatch,
  valueTextAt,
  weightOfBatch,
} from '../../../domain/datapoints/column-batch.ts';
import type { HourTally, RetainedState } from '../../../domain/datapoints/retention/hours.ts';
import type { RetentionLimits } from '../../../domain/datapoints/retention/retention.ts';
import type { ReceivedId } from '../../../domain/publish-context.ts';
import { placeInChunks } from '../../chunks/chunk-placing.ts';
import type { ChunkLimits } from '../../chunks/chunk-store.ts';
import { sortByTime } from '../../chunks/columns.ts';
import { decodePushes, encodePushes, type LoggedPush } from '../../chunks/datapoint-log.ts';
import { runAtOnce, runAwaiting } from '../../chunks/engine-work.ts';
import { type RetentionReport, restoreHours, takeOld } from '../../chunks/retention-step.ts';
import { retentionTablesOf } from '../../sql/retention-tables.ts';
import { keyParts, keyToText } from '../../sql/session-row.ts';
import { markStored } from '../../sql/wills.ts';
import { hourTables } from '../own-tables.ts';
import { createSession } from '../session.ts';
import { createChunkTable } from './chunk-table.ts';
import type { DatapointLimits } from './datapoint-limits.ts';
import type { UnreadableLogRow } from './datapoint-replay.ts';

const insertReceived = `
  insert into mqtt_received (session, packet_id, handed_on)
  select session, ?, 0 from mqtt_sessions where identity = ? and client_id = ?
  on conflict do nothing`;
const insertLogRow = 'insert into datapoint_log (pushes) values (?)';
const trimLog = `
  delete from datapoint_log where seq in (
    select seq from datapoint_log
    where seq <= ? and seq < (select max(seq) from datapoint_log)
    order by seq limit ?)`;
// The newest stays, so that "seq" never starts again; when all of it is in chunks, it stays empty.
const emptyNewestRow = `
  update datapoint_log set pushes = :empty
  where seq = (select max(seq) from datapoint_log) and seq <= :through
    and octet_length(pushes) > octet_length(:empty)`;
const keepLogRow = `
  insert or replace into damaged_log_rows (seq, reason, pushes)
  select seq, ?2, pushes from datapoint_log where seq = ?1`;
// The newest stays, so that "seq" never starts again; at the next start it is kept once more.
const deleteLogRow = `
  delete from datapoint_log
  where seq = ? and seq < (select max(seq) from datapoint_log)`;
const findFlushed = `
  select coalesce(last_values.sealed, 0)
  from sensors left join last_values using (series) where series = ?`;
const putFlushed = 'update last_values set sealed = ?, bytes = bytes + ? where series = ?';
const putLastValue = `
  insert into last_values (series, sealed, timestamp, received_at, value, bytes)
  values (?, ?, ?, ?, ?, ?)
  on conflict (series) do update set sealed = excluded.sealed, timestamp = excluded.timestamp,
    received_at = excluded.received_at, value = excluded.value, bytes = bytes + excluded.bytes`;

/** The work of one step of flushing. */
export interface FlushOrder {
  /** The next datapoints of each series, as encodePushes writes them. */
  readonly pushes: Uint8Array<ArrayBuffer>;
  /** The last value of each series as a push, in the same order; empty: it is in its row. */
  readonly lasts: Uint8Array<ArrayBuffer>;
  /** Log rows up to this one hold nothing that is not in chunks. */
  readonly trimThrough: number;
  readonly limits: DatapointLimits;
}

export interface FlushReport {
  /** Log rows that went; as many as the limit: there may be more. */
  readonly trimmed: number;
  /** Chunks that could not be read and were set aside. */
  readonly damaged: number;
}

/** The changes that the writer thread makes to datapoints. */
export function createDatapointWrites(database: DatabaseSync) {
  const insertRow = database.prepare(insertLogRow);
  const keepId = database.prepare(insertReceived);
  const markWill = database.prepare(`${markStored} where key = ? and turn = ?`);
  const trim = database.prepare(trimLog);
  const empty = database.prepare(emptyNewestRow);
  const noPushes = encodePushes([]);
  const keepRow = database.prepare(keepLogRow);
  const deleteRow = database.prepare(deleteLogRow);
  const flusher = createSeriesFlusher(database);

  return {
    /** Keeps one batch, and the ids of its messages; answers the number of its log row. */
    appendDatapoints(
      pushes: Uint8Array<ArrayBuffer>,
      received?: readonly ReceivedId[] | undefined,
    ): number {
      for (const { session, packetId, willTurn } of received ?? []) {
        if (willTurn === undefined) keepId.run(packetId, ...keyParts(session));
        else markWill.run(keyToText(session), willTurn);
      }
      return Number(insertRow.run(pushes).lastInsertRowid);
    },
    /** Keeps log rows that cannot be read where trimming does not reach them. */
    setAsideLogRows(rows: readonly UnreadableLogRow[]): void {
      for (const { seq, reason } of rows) {
        keepRow.run(seq, reason);
        deleteRow.run(seq);
      }
    },
    /** Moves datapoints to chunks and drops log rows that are not needed. */
    flushDatapoints(order: FlushOrder): FlushReport {
      const lasts = decodePushes(order.lasts);
      let damaged = 0;
      for (const [at, push] of decodePushes(order.pushes).entries()) {
        damaged += flusher.flush(push, lasts[at]?.batch ?? emptyBatch, order.limits);
      }
      const { changes } = trim.run(order.trimThrough, order.limits.trimRowsPerStep);
      empty.run({ empty: noPushes, through: order.trimThrough });
      return { trimmed: Number(changes), damaged };
    },
  };
}

function createSeriesFlusher(database: DatabaseSync) {
  const flushedOf = database.prepare(findFlushed);
  const chunksOf = createChunkTable(database);
  const putLast = database.prepare(putLastValue);
  const putCount = database.prepare(putFlushed);
  flushedOf.setReturnArrays(true);

  /** Answers how many damaged chunks were set aside. */
  function flush(push: LoggedPush, last: ColumnBatch, limits: DatapointLimits): number {
    const row = flushedOf.get(push.series) as unknown as [number] | undefined;
    // Removed since: its datapoints go with it.
    if (row === undefined) return 0;
    const [flushed] = row;
    // Fewer than there should be: those in between were in a log row that was set aside. More: an
    // order that was carried out although its answer was lost comes again.
    const begin = Math.max(flushed, push.sequenceNumber);
    const { batch } = push;
    const first = Math.min(begin - push.sequenceNumber, batch.count);
    const rest = sliceBatch(batch, first, batch.count);
    if (rest.count === 0) return 0;
    const damaged = runAtOnce(placeInChunks(chunksOf(push.series, limits), sortByTime(rest)));
    const nowFlushed = begin + rest.count;
    const bytes = bytesPerWeight * weightOfBatch(rest);
    const isCounted = last.count === 0 && putCount.run(nowFlushed, bytes, push.series).changes > 0;
    // Without a row its last value was in a log row that cannot be read: the newest is it.
    if (!isCounted) putLastOf(push.series, nowFlushed, last.count > 0 ? last : rest, bytes);
    return damaged;
  }

  function putLastOf(series: number, flushed: number, batch: ColumnBatch, bytes: number): void {
    const row = lastRowAmong(batch) ?? 0;
    const timestamp = batch.timed[row] === 1 ? (batch.times[row] ?? 0) : null;
    const receivedAt = batch.received[row] ?? 0;
    putLast.run(series, flushed, timestamp, receivedAt, valueTextAt(batch, row), bytes);
  }

  return { flush };
}

/** The changes that the writer thread makes for retention. */
export function createRetentionStepWrites(
  database: DatabaseSync,
  session = createSession(database),
) {
  const chunksOf = createChunkTable(database);
  const tablesOf = (series: number) =>
    retentionTablesOf(session, { bucket: 0, series }, hourTables);
  return {
    /** Adds hours to a series that they were summed up of elsewhere. */
    putHours: (series: number, state: RetainedState, given: readonly HourTally[]): Promise<void> =>
      runAwaiting(restoreHours(tablesOf(series), state, given)),
    /** Takes one step: hours that are too old, or else the oldest datapoints that are. */
    takeOldDatapoints: ({
      series,
      limits,
      ...ages
    }: RetentionLimits & { series: number; limits: ChunkLimits }): Promise<RetentionReport> =>
      runAwaiting(takeOld({ ...tablesOf(series), chunks: chunksOf(series, limits) }, ages)),
  };
}
