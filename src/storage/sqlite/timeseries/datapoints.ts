import type { DatabaseSync } from 'node:sqlite';
import type { SensorRef } from '../../../domain/datapoints/datapoint.ts';
import { toDatapointColumns } from '../../../domain/datapoints/datapoint-columns.ts';
import type {
  AppendOutcome,
  Push,
  SummarisedStep,
} from '../../../domain/datapoints/datapoint-store.ts';
import { stretchesOf } from '../../../domain/datapoints/retention/hours.ts';
import type { RetentionStep } from '../../../domain/datapoints/retention/retaining.ts';
import type { RetentionLimits } from '../../../domain/datapoints/retention/retention.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { DeviceId, SensorId, Username } from '../../../domain/ids.ts';
import type { ReceivedId } from '../../../domain/publish-context.ts';
import type { Instant } from '../../../lib/clock.ts';
import { runInSteps, yieldToEventLoop } from '../../../lib/event-loop.ts';
import type { Log } from '../../../lib/log.ts';
import { createKeyedSequence } from '../../../lib/scheduling/payer-queues.ts';
import type { Columns } from '../../chunks/columns.ts';
import { encodeInSteps, encodePushes } from '../../chunks/datapoint-log.ts';
import { countInRange, scanPart } from '../../chunks/datapoint-page.ts';
import { summariseStanding } from '../../chunks/datapoint-summary.ts';
import type { DamagedRows } from '../../faults.ts';
import { keyParts, keyToText } from '../../sql/session-row.ts';
import type { PushedStore } from '../../sql/stores.ts';
import { willIsStored } from '../../sql/wills.ts';
import { createSelection } from '../connection.ts';
import { createLastValues } from '../last-values.ts';
import { asRefusal, readSafely } from '../session.ts';
import type { Writer } from '../writer.ts';
import { createChunkReader } from './chunk-reader.ts';
import { type DatapointLimits, datapointLimits } from './datapoint-limits.ts';
import { replayLog } from './datapoint-replay.ts';
import { createFlusher, type Flusher, type FlusherOptions } from './flusher.ts';
import { createHourReader, type HourReader } from './hour-reader.ts';
import { createMemtable, type Memtable } from './memtable.ts';
import { timeAt } from './memtable-columns.ts';
import { oldestPacked } from './packed-series.ts';
import { clearStaged, createPendingBatch, type Staging } from './pending-batch.ts';
import {
  createSeriesTable,
  moveLast,
  type Series,
  type SeriesTable,
  unflushedOf,
} from './series.ts';

const selectReceived = `
  select 1 as found from mqtt_received join mqtt_sessions using (session)
  where packet_id = ? and identity = ? and client_id = ?`;
const selectStoredWill = `
  select 1 as found from mqtt_wills where key = ? and turn = ? and ${willIsStored}`;

/** The datapoints of a database, with what its owner must call. */
export interface SqliteDatapoints extends Required<Omit<PushedStore, 'gatherPart'>> {
  /** Brings back from the log what is not in chunks; before any other call. */
  start(): Promise<void>;
  /** The weight of datapoints not in chunks yet, of a device or one of its sensors. */
  unflushedWeight(deviceId: DeviceId, sensorId?: SensorId): Promise<number>;
  /** The same of all that owners have. */
  unflushedByOwner(): ReadonlyMap<Username, number>;
  /** Resolves when nothing is under way. The reader and the writer stay open. */
  close(): Promise<void>;
}

/**
 * The datapoints of the sqlite engine. A batch becomes one row of an append-only log; after its
 * commit it joins the memtable in memory, which is flushed into compressed chunks by and by.
 */
export function createDatapointStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Pick<Writer, 'call' | 'callTransfer'>;
  readonly log: Log;
  readonly damaged: DamagedRows;
  readonly limits?: DatapointLimits;
}): SqliteDatapoints {
  const { reader, writer, log, damaged, limits = datapointLimits } = options;
  const memtable = createMemtable(limits, (number) => table.resolveNumber(number));
  const table = createSeriesTable(reader, limits, damaged, memtable);
  const chunks = createChunkReader(reader, limits, log);
  const hours = createHourReader(reader);
  const flusher = createFlusher({ memtable, limits, log, carryOut: carryOutBy(writer) });
  const stage = createPendingBatch(table, chunks, createKeptIds(reader));
  const lasts = createLastValues({ reader, table, memtable, limits, damaged });
  const queue = createAppendQueue({ limits, memtable, flusher, append: appendNow });

  async function commit(staging: Staging, isLong: boolean): Promise<void> {
    const pushes = staging.pushes.map(({ push }) => push);
    const bytes = isLong ? await runInSteps(encodeInSteps(pushes)) : encodePushes(pushes);
    if (bytes.length > limits.batchBytesMax) {
      throw new DomainError('unavailable', 'too much arrived at once: try again in a moment');
    }
    const { received } = staging;
    const row = await writer.callTransfer('appendDatapoints', [bytes.buffer], bytes, received);
    for (const { series, push, weight } of staging.pushes) {
      // Removed while its datapoints were under way: they went with it.
      if (series.isForgotten) continue;
      memtable.keep(series, push.batch, row, weight);
      if (push.last !== undefined) moveLast(series, push.sequenceNumber + push.last);
    }
    flusher.arrived();
  }

  async function appendNow(batch: readonly Push[], isLong: boolean): Promise<AppendOutcome[]> {
    const staging: Staging = { pushes: [], received: undefined };
    try {
      const staged = stage(batch, staging);
      const first = staged.next();
      const outcomes = first.done === true ? first.value : await runInSteps(staged);
      if (staging.pushes.length > 0) await commit(staging, isLong);
      return outcomes;
    } catch (reason) {
      for (const { series } of staging.pushes) clearStaged(series);
      throw asRefusal(reason);
    }
  }

  /** A sensor as a reader sees it: its series, how much is in chunks, and the rest. */
  function view<Result>(
    sensor: SensorRef,
    absent: Result,
    look: (series: number, unflushed: Columns) => Result,
  ): Promise<Result> {
    return readSafely(() => {
      const series = table.resolve(sensor);
      if (series === undefined) return absent;
      return chunks.inSnapshot(() =>
        look(series.number, unflushedOf(series, chunks.flushed(series.number))),
      );
    });
  }

  return {
    append: queue.append,
    async readyForLong() {
      while (memtable.bytes > limits.memtableBytesForLong) {
        await flusher.makeRoom();
        await yieldToEventLoop();
      }
    },
    scan: (sensor, page, charactersMax) =>
      view(sensor, { columns: toDatapointColumns([]), isCut: false }, (series, unflushed) =>
        scanPart({ chunks, series, unflushed, page }, charactersMax),
      ),
    summarise: (sensor, page, summariseOptions) =>
      view<SummarisedStep>(sensor, { parts: [] }, (series, unflushed) =>
        summariseStanding({ chunks, series, unflushed, page }, summariseOptions, hours.of(series)),
      ),
    standsFrom: (sensors, range) => readSafely(() => hours.standsFrom(sensors, range)),
    hours: (sensor, { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }, max) =>
      view(sensor, stretchesOf([]), (series) => hours.hours(series, { from, to }, max)),
    count: (sensor, range) =>
      view(
        sensor,
        0,
        (series, unflushed) => chunks.count(series, range) + countInRange(unflushed, range),
      ),
    lastValues: (devices) => readSafely(() => lasts.whole(devices)),
    briefLastValues: (devices) => readSafely(() => lasts.brief(devices)),
    lastValue: (sensor) => readSafely(() => lasts.one(sensor)),
    newestReceived: (atMost) => readSafely(() => lasts.newestReceived(atMost)),
    async start() {
      const unreadable = replayLog({ reader, table, memtable, damaged });
      // Out of the way before the log is trimmed: what they hold may be mended one day.
      if (unreadable.length > 0) await writer.call('setAsideLogRows', unreadable);
      flusher.poke();
    },
    unflushedWeight: (deviceId, sensorId) =>
      readSafely(() => {
        let weight = weightOutside(table.residents(deviceId), sensorId);
        for (const number of table.numbers(deviceId, sensorId)) {
          weight += memtable.packed(number)?.weight ?? 0;
        }
        return weight;
      }),
    unflushedByOwner: createWeighing(reader, memtable),
    ...createOldTaking({ table, memtable, flusher, hours, writer, limits, log }),
    forget(deviceId, sensorId) {
      for (const series of table.forget(deviceId, sensorId)) memtable.drop(series);
    },
    async close() {
      try {
        await queue.drain();
      } finally {
        await flusher.close();
      }
    },
  };
}

/** Whether a session keeps the id of a message, or its will is marked: then that is stored. */
function createKeptIds(reader: DatabaseSync): (id: ReceivedId) => boolean {
  const find = createSelection<{ found: number }>(reader, selectReceived);
  const findWill = createSelection<{ found: number }>(reader, selectStoredWill);
  return ({ session, packetId, willTurn }) =>
    willTurn === undefined
      ? find.first(packetId, ...keyParts(session)) !== undefined
      : findWill.first(keyToText(session), willTurn) !== undefined;
}

/** Hands orders of flushing over to the writer thread. */
const carryOutBy =
  (writer: Pick<Writer, 'callTransfer'>): FlusherOptions['carryOut'] =>
  (order) =>
    writer.callTransfer('flushDatapoints', [order.pushes.buffer, order.lasts.buffer], order);

/** Takes old datapoints out of chunks, once all that are as old have arrived there. */
function createOldTaking(parts: {
  readonly table: SeriesTable;
  readonly memtable: Memtable;
  readonly flusher: Flusher;
  readonly hours: Pick<HourReader, 'noteTaken' | 'state'>;
  readonly writer: Pick<Writer, 'call'>;
  readonly limits: DatapointLimits;
  readonly log: Log;
}): Pick<SqliteDatapoints, 'takeOld' | 'retained' | 'oldestUnflushed'> {
  const { table, memtable, flusher, hours, writer, limits, log } = parts;
  const idle = { datapoints: 0, hours: 0, hoursKept: 0, bytes: 0 } as const;
  async function takeOld(sensor: SensorRef, ages: RetentionLimits): Promise<RetentionStep> {
    const series = table.resolve(sensor);
    if (series === undefined) return { ...idle, state: 'done' };
    if (oldestOf(series) < (ages.rawBefore ?? Number.NEGATIVE_INFINITY)) {
      memtable.want(series);
      flusher.poke();
      return { ...idle, state: 'wait' };
    }
    // First: whatever becomes of the answer, reads check for hours from now on.
    hours.noteTaken();
    const order = { ...ages, series: series.number, limits };
    const { damaged, ...step } = await writer.call('takeOldDatapoints', order);
    if (damaged > 0) log.error({ chunks: damaged }, 'chunks cannot be read and were set aside');
    return step;
  }

  return {
    takeOld,
    retained: {
      async state(sensor) {
        const series = table.resolve(sensor);
        return series && hours.state(series.number);
      },
      async restore(sensor, state, given) {
        const series = table.resolve(sensor);
        if (series === undefined) return 'missing';
        hours.noteTaken();
        await writer.call('putHours', series.number, state, given);
        return 'put';
      },
    },
    oldestUnflushed({ deviceId, sensorId, number }) {
      const packed = memtable.packed(number);
      if (packed !== undefined) return oldestPacked(packed);
      const series = [...table.residents(deviceId)].find((one) => one.sensorId === sensorId);
      return series === undefined ? Number.POSITIVE_INFINITY : oldestOf(series);
    },
  };
}

const weightsOfOwners = `
  select owner, sum(given.value)
  from json_each(?) as given cross join sensors on series = cast(given.key as integer)
    cross join devices on devices.id = device_id
  group by owner`;

/** Sums up the weights of datapoints not in chunks by owner, with one statement for all. */
function createWeighing(reader: DatabaseSync, memtable: Pick<Memtable, 'weights'>) {
  const find = reader.prepare(weightsOfOwners);
  find.setReturnArrays(true);
  return (): ReadonlyMap<Username, number> => {
    const given = [...memtable.weights()].map(([series, weight]) => `"${series}":${weight}`);
    return new Map(find.all(`{${given}}`) as unknown as (readonly [Username, number])[]);
  };
}

/** The weight of datapoints not in chunks, of all of these series or of one sensor. */
function weightOutside(all: Iterable<Series>, sensorId: SensorId | undefined): number {
  let weight = 0;
  for (const series of all) {
    if (sensorId !== undefined && sensorId !== series.sensorId) continue;
    weight += series.memtableEntry.weight + (series.frozen?.weight ?? 0);
  }
  return weight;
}

/** When the oldest datapoint outside chunks is of. */
function oldestOf({ frozen, memtableEntry }: Series): Instant {
  let oldest = Number.POSITIVE_INFINITY;
  for (const entry of [frozen, memtableEntry]) {
    for (let row = 0; row < (entry?.count ?? 0); row += 1) {
      if (entry !== undefined) oldest = Math.min(oldest, timeAt(entry.columns, row));
    }
  }
  return oldest;
}

/** Appends one batch at a time, and beside the batches one long push to another device. */
function createAppendQueue(options: {
  readonly limits: DatapointLimits;
  readonly memtable: Pick<Memtable, 'bytes'>;
  readonly flusher: Pick<Flusher, 'makeRoom'>;
  readonly append: (batch: readonly Push[], isLong: boolean) => Promise<readonly AppendOutcome[]>;
}) {
  const { limits, memtable, flusher } = options;
  const makeRoom = async (): Promise<void> => {
    while (memtable.bytes > limits.memtableBytesRefused) await flusher.makeRoom();
  };
  const inTurn = createSlices(limits.appendsWaitingMax);
  const longInTurn = createSlices(limits.appendsWaitingMax);
  let long: { readonly deviceId: DeviceId; readonly isOver: Promise<void> } | undefined;

  async function append(batch: readonly Push[]): Promise<readonly AppendOutcome[]> {
    await makeRoom();
    // A series is not to be touched by two at a time.
    while (long !== undefined && batch.some(({ deviceId }) => deviceId === long?.deviceId)) {
      await long.isOver;
    }
    const isLong = batch.some((push) => push.batch.count > limits.longPushDatapointsMin);
    return options.append(batch, isLong);
  }

  async function appendLong(push: Push): Promise<readonly AppendOutcome[]> {
    const over = Promise.withResolvers<void>();
    try {
      // Next in the queue: no batch under way has staged anything for its series.
      await inTurn.run(async () => {
        await makeRoom();
        long = { deviceId: push.deviceId, isOver: over.promise };
      });
      return await options.append([push], true);
    } finally {
      long = undefined;
      over.resolve();
    }
  }

  return {
    append(batch: readonly Push[]): Promise<readonly AppendOutcome[]> {
      const [push] = batch;
      const isAlone = batch.length === 1 && push !== undefined;
      return isAlone && push.batch.count > limits.apartPushDatapointsMin
        ? longInTurn.run(() => appendLong(push))
        : inTurn.run(() => append(batch));
    },
    /** Resolves when nothing is under way, however much waits. */
    async drain(): Promise<void> {
      await longInTurn.drain();
      await inTurn.drain();
    },
  };
}

/** Runs one piece of work at a time, in the order they came; at most `waitingMax` wait. */
function createSlices(waitingMax: number) {
  let waiting = 0;
  const inOrder = createKeyedSequence();

  return {
    run<Result>(work: () => Promise<Result>): Promise<Result> {
      if (waiting >= waitingMax) {
        return Promise.reject(
          new DomainError('unavailable', 'too many batches wait: try again in a moment'),
        );
      }
      waiting += 1;
      return inOrder('', work).finally(() => {
        waiting -= 1;
      });
    },
    drain: inOrder.drain,
  };
}
