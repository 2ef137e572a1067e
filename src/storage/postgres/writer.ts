import { setTimeout as wait } from 'node:timers/promises';
import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { DeviceId } from '../../domain/ids.ts';
import type { OnNews } from '../../domain/members/member-store.ts';
import type { Log } from '../../lib/log.ts';
import { createWriteHealth } from '../faults.ts';
import { bucketOf } from '../sql/device-row.ts';
import type { ChangeSession, Value } from '../sql/session.ts';
import { asRefusal, awaySentence, isConflict, isConnectionLost, unavailable } from './failures.ts';
import type { Link, Others, Plane, Transaction } from './link.ts';
import { isHere, type Parts } from './parts.ts';
import { postgresLimits } from './postgres-limits.ts';

/**
 * The work of a call inside the transaction of its group commit. It may be run again when a
 * connection was lost, so it depends on nothing but what it reads there.
 */
export type Work<Answer> = (session: WriteSession) => Promise<Answer>;

/** The session of a commit. */
export interface WriteSession extends ChangeSession {
  /** Whether other processes serve the database; known when a statement was answered. */
  readonly others: () => Others | undefined;
  /** Notifies other processes, once the commit is made, that there are these entries to read. */
  readonly news: (entries?: readonly string[]) => void;
}

/**
 * The sensors whose data a call changes, all of one part: it alone works with them. None: it
 * locks itself whatever it changes or concludes from.
 */
export interface SensorLocks {
  readonly sensors?: readonly SensorRef[];
  readonly series?: readonly { readonly bucket: number; readonly series: number }[];
  /** All sensors of these. */
  readonly devices?: readonly DeviceId[];
  /** Whether it also concludes from what the corrections of the sensors' owners come to. */
  readonly isOfOwners?: boolean;
  /** Whether its first statement locks them itself, in the order of `series`. */
  readonly locksItself?: boolean;
}

// In one order, for all calls of a commit at once: commits that lock the same ones cannot block
// each other. A statement behind it sees what the commits that had them before left.
const lockSensors = (here: string): string => `
  select series from sensors where ${here} series = any(array(
    select series from unnest($1::text[], $2::text[]) as given (device, sensor)
      join sensors on ${here} device_id = device and sensor_id = sensor
    union all select unnest($3::bigint[])
    union all select series from sensors where ${here} device_id = any($4::text[])))
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

/** A commit that may be made although its connection was lost. */
interface Doubt {
  readonly part: number;
  readonly seq: number;
  readonly calls: readonly Waiting[];
  readonly answers: readonly unknown[];
  readonly news: readonly (readonly string[])[];
  /** The connection was lost: until there is another one, nobody knows. */
  isLost: boolean;
  isRefused: boolean;
}

/**
 * Many calls go in one commit, of one plane; one that fails is run again alone, and undoes only
 * itself. `onNews` runs after a commit that others have to read; when its calls had been refused,
 * with its entries: nobody has published them here.
 */
export function createWriter(link: Link, log: Log, onNews: OnNews = () => undefined): Writer {
  const hasParts = link.parts.length > 0;
  let queue: Waiting[] = [];
  const noteHealth = createWriteHealth(log, 'the database');
  let running: Promise<void> | undefined;
  let isClosed = false;
  let doubt: Doubt | undefined;
  link.onReached((seqs) => {
    if (doubt?.isRefused !== true) return;
    if (doubt.seq === seqs.get(doubt.part)) onNews(doubt.news.flat());
    doubt = undefined;
  });

  async function run(): Promise<void> {
    while (queue.length > 0) await carryOut(takeTogether());
  }

  function planeOf({ locks }: Waiting): Plane {
    if (locks === undefined || !link.hasDataPlane()) return 'control';
    const [bucket = -1] = hasParts ? bucketsIn(locks) : [];
    return link.parts[bucket] ?? -1;
  }

  /** The calls of one commit: of the plane of the first that waits, in the order they came. */
  function takeTogether(): readonly Waiting[] {
    const [first] = queue;
    const plane = first && planeOf(first);
    const ofPlane = queue.filter((call) => planeOf(call) === plane);
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
    for (let failures = 0; ; failures += 1) {
      try {
        const answers = await attempt(calls);
        noteHealth();
        calls.forEach((call, at) => {
          call.resolve(answers[at]);
        });
        return;
      } catch (error) {
        const own = doubt?.calls === calls ? doubt : undefined;
        if (own !== undefined) own.isLost ||= isConnectionLost(error);
        // Of a commit in doubt: the link does not connect again, whatever the reason.
        const isAway = isConnectionLost(error) || own?.isLost === true;
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
        if (isAway && own !== undefined) own.isRefused = true;
        const refusal = own?.isLost ? unavailable(awaySentence, error) : asRefusal(error);
        noteHealth({ err: refusal });
        for (const call of calls) call.reject(refusal);
        return;
      }
    }
  }

  /**
   * Makes one commit of these calls. When the connection was lost while it was committed, the
   * number of the last commit says whether it was.
   */
  async function attempt(calls: readonly Waiting[]): Promise<readonly unknown[]> {
    const seqs = await link.ready();
    if (doubt?.calls === calls && doubt.seq === seqs.get(doubt.part)) return doubt.answers;
    doubt = undefined;
    const locks = calls.flatMap((call) => call.locks ?? []);
    const news: (readonly string[])[] = [];
    const [plane = 'control', ...rest] = new Set(calls.map(planeOf));
    const together = rest.length > 0 ? 'control' : plane;
    const committed = await link.transact(together, async (transaction) => {
      const { session: plain, send, others, part, seq } = transaction;
      const answers: unknown[] = [];
      // Several calls lock at once, in one order: one by one they could block each other's commits.
      const locksItself = calls.length === 1 && locks[0]?.locksItself === true;
      if (link.isShared && !locksItself) lockAll(send, locks, hasParts);
      const ends = new Map<string, readonly [string, ...Value[]]>();
      const session: WriteSession = {
        ...{ ...plain, send, others },
        news(entries = []) {
          transaction.news();
          news.push(entries);
        },
        atEnd: (sql, ...values) => void ends.set(JSON.stringify([sql, values]), [sql, ...values]),
      };
      for (const { work } of calls) answers.push(await work(session));
      for (const end of ends.values()) session.send(...end);
      doubt = { part, seq, calls, answers, news, isLost: false, isRefused: false };
      return answers;
    });
    doubt = undefined;
    if (news.length > 0) onNews();
    return committed;
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

const bucketsIn = ({ sensors = [], series = [], devices = [] }: SensorLocks): readonly number[] => [
  ...series.map(({ bucket }) => bucket),
  ...[...sensors.map(({ deviceId }) => deviceId), ...devices].map(bucketOf),
];

function lockAll(
  send: Transaction['send'],
  locks: readonly SensorLocks[],
  hasParts: boolean,
): void {
  const sensors = locks.flatMap((one) => one.sensors ?? []);
  const series = locks.flatMap((one) => one.series ?? []);
  const devices = locks.flatMap((one) => one.devices ?? []);
  if (sensors.length + series.length + devices.length === 0) return;
  send(
    lockSensors(isHere(hasParts, 5)),
    sensors.map(({ deviceId }) => deviceId),
    sensors.map(({ sensorId }) => sensorId),
    ...[series.map((key) => key.series), devices],
    ...(hasParts ? [locks.flatMap(bucketsIn)] : []),
  );
  const ofOwners = locks.flatMap(({ isOfOwners, sensors }) => (isOfOwners && sensors) || []);
  if (ofOwners.length === 0) return;
  send(
    lockOwners,
    ofOwners.map(({ deviceId }) => deviceId),
  );
}
