import { setTimeout as wait } from 'node:timers/promises';
import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DeviceId } from '../../domain/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createWriteHealth } from '../faults.ts';
import type { ChangeSession, Value } from '../sql/session.ts';
import { asRefusal, awaySentence, isConflict, isConnectionLost, unavailable } from './failures.ts';
import type { Link, Others, Plane, Transaction } from './link.ts';
import { bucketsOf, type Parts } from './parts.ts';
import { postgresLimits } from './postgres-limits.ts';
import type { SeriesKey } from './timeseries/chunk-table.ts';

/**
 * The work of a call inside the transaction of its group commit. It may be run again when a
 * connection was lost, so it depends on nothing but what it reads there.
 */
export type Work<Answer> = (session: WriteSession) => Promise<Answer>;

/** The session of a commit. */
export interface WriteSession extends ChangeSession {
  /** Whether other processes serve the database; known when a statement was answered. */
  readonly others: () => Others | undefined;
  /** Notifies other processes, once the commit is made, that there is something to read. */
  readonly news: () => void;
}

/**
 * The sensors whose data a call changes, all of one part: it works with their rows locked, and
 * nobody else does.
 * None: it locks itself whatever it changes or concludes from.
 */
export interface SensorLocks {
  readonly sensors?: readonly SensorRef[];
  readonly series?: readonly SeriesKey[];
  /** All sensors of these. */
  readonly devices?: readonly DeviceId[];
  /** Whether it also concludes from what the corrections of the sensors' owners come to. */
  readonly isOfOwners?: boolean;
}

// In one order, for all calls of a commit at once: commits that lock the same ones cannot block
// each other. A statement behind it sees what the commits that had them before left.
const lockSensors = `
  select from sensors where bucket = any($1::smallint[]) and series = any(array(
    select series from unnest($2::text[], $3::text[]) as given (device, sensor)
      join sensors on device_id = device and sensor_id = sensor and bucket = any($1::smallint[])
    union all select unnest($4::bigint[])
    union all select series from sensors
      where bucket = any($1::smallint[]) and device_id = any($5::text[])))
  order by series for no key update`;

// Behind the sensors, and in one order as well.
const lockOwners = `
  select pg_advisory_xact_lock(hashtext(current_schema()), owner) from (
    select distinct hashtext(nocase(owner)) as owner from devices
    where id = any($1::text[]) order by 1) as owners`;

/** Changes, one commit after the other on one connection. */
export interface Writer {
  /**
   * Resolves when its commit is durable. Throws when nothing was kept: DomainError storage_full
   * when the disk is full, unavailable when the queue is full. Throws unavailable also when the
   * database is away, and whether the change was kept is not known. With `locks` it is a change of
   * the data plane, and waits for none of another kind.
   */
  call<Answer>(work: Work<Answer>, locks?: SensorLocks): Promise<Answer>;
  readonly parts: Parts;
  /** Resolves when every call was answered and the connection is closed. */
  close(): Promise<void>;
}

interface Waiting {
  readonly work: Work<unknown>;
  readonly locks: SensorLocks | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Many calls go in one commit, of one plane; one that fails is run again alone, and undoes only
 * itself. `onNews` runs after a commit that others have to read.
 */
export function createWriter(link: Link, log: Log, onNews: () => void = () => undefined): Writer {
  let queue: Waiting[] = [];
  const noteHealth = createWriteHealth(log, 'the database');
  let running: Promise<void> | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    while (queue.length > 0) await carryOut(takeTogether());
  }

  /** The calls of one commit: of the plane of the first that waits, in the order they came. */
  function takeTogether(): readonly Waiting[] {
    const [first] = queue;
    const plane = first && planeOf(link, [first]);
    const ofPlane = queue.filter((call) => {
      const { isData, part } = planeOf(link, [call]);
      return isData === plane?.isData && part === plane.part;
    });
    const taken = new Set(ofPlane.slice(0, postgresLimits.callsPerCommitMax));
    queue = queue.filter((call) => !taken.has(call));
    return [...taken];
  }

  function start(): void {
    running ??= run().finally(() => {
      running = undefined;
      // A call may have come after the queue was last read.
      if (queue.length > 0) start();
    });
  }

  async function carryOut(calls: readonly Waiting[]): Promise<void> {
    const giveUpAt = performance.now() + postgresLimits.awayMs;
    const attempt = createAttempt(calls, onNews);
    for (let failures = 0; ; failures += 1) {
      try {
        const answers = await attempt(link);
        noteHealth();
        calls.forEach((call, at) => {
          call.resolve(answers[at]);
        });
        return;
      } catch (error) {
        const isAway = isConnectionLost(error);
        // Several calls that met another commit are made one by one, with fewer locks each.
        const mayRetry = isAway || (calls.length === 1 && isConflict(error));
        if (mayRetry && performance.now() < giveUpAt && !link.isFenced()) {
          await wait(Math.min(postgresLimits.retryMs * 2 ** failures, postgresLimits.retryMsMax));
          continue;
        }
        if (!isAway && calls.length > 1) {
          for (const call of calls) await carryOut([call]);
          return;
        }
        const refusal = isAway ? unavailable(awaySentence, error) : asRefusal(error);
        noteHealth({ err: refusal });
        for (const call of calls) call.reject(refusal);
        return;
      }
    }
  }

  return {
    parts: link.parts,
    call<Answer>(work: Work<Answer>, locks?: SensorLocks): Promise<Answer> {
      if (isClosed) return Promise.reject(unavailable('the storage is closed'));
      if (queue.length >= postgresLimits.callsWaitingMax) {
        return Promise.reject(unavailable('too many changes wait for the database: try again'));
      }
      return new Promise<Answer>((resolve, reject) => {
        // Each promise is resolved with what its own work answered.
        queue.push({ work, locks, resolve: resolve as (value: unknown) => void, reject });
        start();
      });
    },
    async close() {
      isClosed = true;
      while (running !== undefined) await running;
      await link.close();
    },
  };
}

const control: Plane = { isData: false, part: 0 };

/** The plane of a commit of these calls, of which the first says the part. */
function planeOf(link: Link, calls: readonly Waiting[]): Plane {
  if (!link.hasDataPlane() || calls.some((call) => call.locks === undefined)) return control;
  const { firsts, of } = link.parts;
  const [bucket] = firsts.length === 0 ? [] : bucketsIn(calls[0]?.locks ?? {});
  return { isData: true, part: bucket === undefined ? 0 : of(bucket) };
}

const bucketsIn = ({ sensors = [], series = [], devices = [] }: SensorLocks): readonly number[] => [
  ...series.map(({ bucket }) => bucket),
  ...bucketsOf([...sensors, ...devices.map((deviceId) => ({ deviceId }))]),
];

/**
 * Makes one commit of these calls, however often it has to be tried. When the connection was lost
 * while it was committed, the number of the last commit says whether it was.
 */
function createAttempt(
  calls: readonly Waiting[],
  onNews: () => void,
): (link: Link) => Promise<readonly unknown[]> {
  const locks = calls.flatMap((call) => call.locks ?? []);
  let doubtful: { readonly seq: number; readonly answers: readonly unknown[] } | undefined;

  return async (link) => {
    const plane = planeOf(link, calls);
    const seq = await link.ready(plane.part);
    if (doubtful?.seq === seq) return doubtful.answers;
    doubtful = undefined;
    let hasNews = false;
    const committed = await link.transact(plane, async (transaction: Transaction) => {
      const answers: unknown[] = [];
      if (link.isShared) lockAll(transaction, locks);
      const ends = new Map<string, readonly [string, ...Value[]]>();
      const session: WriteSession = {
        ...transaction.session,
        send: transaction.send,
        others: transaction.others,
        news() {
          hasNews = true;
        },
        atEnd: (sql, ...values) => void ends.set(JSON.stringify([sql, values]), [sql, ...values]),
      };
      for (const { work } of calls) answers.push(await work(session));
      for (const end of ends.values()) session.send(...end);
      doubtful = { seq: transaction.seq, answers };
      return answers;
    });
    if (hasNews) onNews();
    return committed;
  };
}

function lockAll({ send }: Transaction, locks: readonly SensorLocks[]): void {
  const sensors = locks.flatMap((one) => one.sensors ?? []);
  const series = locks.flatMap((one) => one.series ?? []);
  const devices = locks.flatMap((one) => one.devices ?? []);
  if (sensors.length + series.length + devices.length === 0) return;
  send(
    lockSensors,
    [...new Set(locks.flatMap(bucketsIn))],
    sensors.map(({ deviceId }) => deviceId),
    sensors.map(({ sensorId }) => sensorId),
    ...[series.map((key) => key.series), devices],
  );
  const ofOwners = locks.flatMap(({ isOfOwners, sensors }) => (isOfOwners && sensors) || []);
  if (ofOwners.length === 0) return;
  send(
    lockOwners,
    ofOwners.map(({ deviceId }) => deviceId),
  );
}
