import type { DatabaseSync } from 'node:sqlite';
import type { Datapoint, SensorRef } from '../../domain/datapoints/datapoint.ts';
import { toDatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type {
  AppendOutcome,
  DatapointStore,
  LastValues,
  Push,
} from '../../domain/datapoints/datapoint-store.ts';
import { DomainError } from '../../domain/errors.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createChunkReader } from './chunk-reader.ts';
import { type DatapointLimits, datapointLimits } from './datapoint-limits.ts';
import { encodePushes, type LoggedPush } from './datapoint-log.ts';
import { countInRange, readPage, scanPage } from './datapoint-page.ts';
import { replayLog } from './datapoint-replay.ts';
import { asRefusal, readSafely } from './failures.ts';
import { createSealer } from './sealer.ts';
import { createSeriesTable, lastValueOf, nextOrdinal, type Series, unsealedOf } from './series.ts';
import { clearStaged, stagePush } from './staging.ts';
import { createTails } from './tails.ts';
import type { Writer } from './writer.ts';

/** The datapoints of a database, with what its owner must call. */
export interface SqliteDatapoints extends DatapointStore {
  /** Brings back from the log what is not in chunks; before any other call. */
  start(): void;
  /** Drops what is in memory of a removed sensor, or of all sensors of a removed device. */
  forget(deviceId: DeviceId, sensorId?: SensorId): void;
  /** Resolves when nothing is under way. The reader and the writer stay open. */
  close(): Promise<void>;
}

export interface SqliteDatapointsOptions {
  readonly reader: DatabaseSync;
  readonly writer: Pick<Writer, 'callTransfer'>;
  readonly log: Log;
  readonly limits?: DatapointLimits;
}

const listLastValues = `
  select device_id, sensor_id, timestamp, received_at, value
  from sensors join last_values using (series)
  where device_id in (select value from json_each(?))`;

type LastValueRow = readonly [
  deviceId: DeviceId,
  sensorId: SensorId,
  timestamp: number | null,
  receivedAt: number,
  value: string,
];

/** A push that goes to disk, with the series it belongs to. */
interface Staged {
  readonly series: Series;
  readonly push: LoggedPush;
}

/**
 * The datapoints of the sqlite engine. A batch becomes one row of an append-only log; after its
 * commit it joins the tails in memory, which are sealed into compressed chunks little by little.
 */
export function createDatapointStore(options: SqliteDatapointsOptions): SqliteDatapoints {
  const { reader, writer, log, limits = datapointLimits } = options;
  const table = createSeriesTable(reader, limits);
  const chunks = createChunkReader(reader, limits, log);
  const tails = createTails(limits);
  const sealer = createSealer({
    tails,
    limits,
    log,
    carryOut: (order) =>
      writer.callTransfer('sealDatapoints', [order.pushes.buffer, order.lasts.buffer], order),
  });
  const lastValuesOf = reader.prepare(listLastValues);
  lastValuesOf.setReturnArrays(true);
  const inTurn = createTurns(limits.appendsWaitingMax);

  function stage(batch: readonly Push[], staged: Staged[]): AppendOutcome[] {
    return batch.map((push): AppendOutcome => {
      const series = table.resolve(push);
      if (series === undefined) return { kind: 'missing' };
      const ordinal = nextOrdinal(series);
      const { fresh, last } = stagePush(chunks, series, push.datapoints);
      if (fresh.length > 0) {
        const number = series.number;
        const logged = { series: number, ordinal, datapoints: fresh };
        staged.push({ series, push: last === undefined ? logged : { ...logged, last } });
      }
      return { kind: 'stored', fresh };
    });
  }

  async function commit(staged: readonly Staged[]): Promise<void> {
    const bytes = encodePushes(staged.map(({ push }) => push));
    if (bytes.length > limits.batchBytesMax) {
      throw new DomainError('unavailable', 'too much arrived at once: try again in a moment');
    }
    const row = await writer.callTransfer('appendDatapoints', [bytes.buffer], bytes);
    for (const { series, push } of staged) {
      clearStaged(series, 'kept');
      // Removed while its datapoints were under way: they went with it.
      if (series.isForgotten) continue;
      tails.add(series, push.datapoints, row);
      if (push.last !== undefined) series.last = push.datapoints[push.last];
    }
    sealer.poke();
  }

  async function append(batch: readonly Push[]): Promise<readonly AppendOutcome[]> {
    while (tails.weight > limits.tailsWeightRefused) await sealer.makeRoom();
    const staged: Staged[] = [];
    try {
      const outcomes = stage(batch, staged);
      if (staged.length > 0) await commit(staged);
      return outcomes;
    } catch (reason) {
      for (const { series } of staged) clearStaged(series, 'lost');
      throw asRefusal(reason);
    }
  }

  /** What a reader sees of a sensor: its series, how much is in chunks, and the rest. */
  function view<Result>(
    sensor: SensorRef,
    absent: Result,
    look: (series: number, unsealed: readonly Datapoint[]) => Result,
  ): Promise<Result> {
    return readSafely(() => {
      const series = table.resolve(sensor);
      if (series === undefined) return absent;
      return chunks.inSnapshot(() =>
        look(series.number, unsealedOf(series, chunks.sealed(series.number))),
      );
    });
  }

  function readLastValues(
    devices: readonly DeviceId[],
    values: Map<DeviceId, Map<SensorId, Datapoint>>,
  ): void {
    const rows = lastValuesOf.all(JSON.stringify(devices)) as unknown as LastValueRow[];
    for (const [deviceId, sensorId, timestamp, receivedAt, text] of rows) {
      put(values, deviceId, sensorId, lastValueOf(text, timestamp, receivedAt));
    }
  }

  function lastValues(devices: readonly DeviceId[]): LastValues {
    const values = new Map<DeviceId, Map<SensorId, Datapoint>>();
    const unknown = devices.filter((deviceId) => !table.isWhole(deviceId));
    // A device that is asked for alone is asked for again; a long list is read and forgotten.
    if (unknown.length <= limits.wholeDevicesPerRead) table.makeWhole(unknown);
    else readLastValues(unknown, values);
    // Rows are as old as the last sealing; memory is what was acknowledged.
    for (const deviceId of devices) {
      for (const { sensorId, last } of table.residents(deviceId)) {
        if (last !== undefined) put(values, deviceId, sensorId, last);
      }
    }
    return values;
  }

  return {
    append: (batch) => inTurn(() => append(batch)),
    read: (sensor, page) =>
      view<readonly Datapoint[]>(sensor, [], (series, unsealed) =>
        readPage(chunks, series, unsealed, page),
      ),
    scan: (sensor, page) =>
      view(sensor, toDatapointColumns([]), (series, unsealed) =>
        scanPage(chunks, series, unsealed, page),
      ),
    count: (sensor, range) =>
      view(
        sensor,
        0,
        (series, unsealed) => chunks.count(series, range) + countInRange(unsealed, range),
      ),
    lastValues: (devices) => readSafely(() => lastValues(devices)),
    start() {
      replayLog(reader, table, tails);
      sealer.poke();
    },
    forget(deviceId, sensorId) {
      for (const series of table.forget(deviceId, sensorId)) tails.drop(series);
    },
    async close() {
      try {
        await inTurn(async () => undefined);
      } finally {
        await sealer.close();
      }
    },
  };
}

function put(
  values: Map<DeviceId, Map<SensorId, Datapoint>>,
  deviceId: DeviceId,
  sensorId: SensorId,
  last: Datapoint,
): void {
  const ofDevice = values.get(deviceId) ?? new Map<SensorId, Datapoint>();
  ofDevice.set(sensorId, last);
  values.set(deviceId, ofDevice);
}

/** Runs one piece of work at a time, in the order they came; at most `waitingMax` wait. */
function createTurns(waitingMax: number) {
  let waiting = 0;
  let previous: Promise<unknown> = Promise.resolve();

  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (waiting >= waitingMax) {
      return Promise.reject(
        new DomainError('unavailable', 'too many batches wait: try again in a moment'),
      );
    }
    waiting += 1;
    const turn = previous.then(work).finally(() => {
      waiting -= 1;
    });
    // Whoever asked for the turn learns of its failure; the next in line need not.
    previous = turn.catch(() => undefined);
    return turn;
  };
}
