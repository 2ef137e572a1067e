import type { Change } from '../../src/domain/changes.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import type { AccountStorage, StoragePlace } from '../../src/storage/storage.ts';
import type { Examination } from './examination/chunk-examination.ts';
import { type MoveReport, type MoveSource, type MoveTarget, moveAll } from './move/move.ts';
import type { PlannedDevice, PlanOptions } from './retention-plan.ts';

/**
 * Opens the accounts of an installation; a service may run on it meanwhile. `makes`: where there is
 * nothing yet, it is made. Throws UnusableStorageError when a person has to mend something.
 */
export async function openAccounts(
  place: StoragePlace,
  options: {
    readonly makes: boolean;
    /** Makes the message of a change to services on the same database. */
    readonly textOf: (change: Change) => string;
  },
): Promise<AccountStorage> {
  if (place.kind === 'postgres') {
    const { openAccounts: open } = await import('./postgres/accounts.ts');
    return open(place.url, options);
  }
  const { openAccounts: open } = await import('./sqlite/accounts.ts');
  return open(place.directory);
}

/** Plans retention as of now, by device; only reads. Throws UnusableStorageError without data. */
export async function planRetentionOf(
  place: StoragePlace,
  options: PlanOptions,
): Promise<readonly PlannedDevice[]> {
  if (place.kind === 'postgres') {
    const { planRetentionOf: plan } = await import('./postgres/examination/retention-plan.ts');
    return plan(place, options);
  }
  const { planRetentionOf: plan } = await import('./sqlite/examination/retention-plan.ts');
  return plan(place.directory, options);
}

/**
 * Examines all that is stored, beside a service or without one. Throws when there is nothing to
 * examine: UnusableStorageError, or what `isDamage` knows for damage as a whole.
 */
export async function examine(
  place: StoragePlace,
  options: {
    readonly now: number;
    /** Free space below which pushes are refused. */
    readonly floorBytes: number;
    /** How many small writes are made to measure the disk. */
    readonly syncsMax: number;
    readonly onStage: (stage: string) => void;
  },
): Promise<Examination> {
  if (place.kind === 'postgres') {
    const { examine: look } = await import('./postgres/examination/examination.ts');
    return look({ ...options, ...place });
  }
  const { examine: look } = await import('./sqlite/examination/examination.ts');
  return look({ ...options, directory: place.directory });
}

/** Whether an examination was refused since what is stored is damaged as a whole. */
export async function isDamage(error: unknown): Promise<boolean> {
  const { isDamage: isDamageOfFile } = await import('./sqlite/examination/examination.ts');
  return isDamageOfFile(error);
}

/**
 * Moves an installation to another place, which has none; what is there stays as it is. Throws
 * UnusableStorageError while a service runs on either, or when a person has to mend something.
 */
export async function move(
  from: StoragePlace,
  to: StoragePlace,
  options: {
    /** In rows: each is copied once, and read twice to be compared. */
    readonly onProgress: (done: number, total: number) => void;
    readonly signal?: AbortSignal;
    readonly log?: Log;
  },
): Promise<MoveReport> {
  await using opened = new AsyncDisposableStack();
  const source = await openSource(from, options.log ?? silentLog);
  opened.defer(() => source.close());
  options.signal?.throwIfAborted();
  const target = await openTarget(to, source.name);
  opened.defer(() => target.close());
  return await moveAll({ ...options, source, target });
}

async function openSource(place: StoragePlace, log: Log): Promise<MoveSource> {
  if (place.kind === 'postgres') {
    const { openMoveSource } = await import('./postgres/move/move-source.ts');
    return openMoveSource(place, log);
  }
  const { openMoveSource } = await import('./sqlite/move/move-source.ts');
  return openMoveSource(place.directory, log);
}

async function openTarget(place: StoragePlace, sourceName: string): Promise<MoveTarget> {
  if (place.kind === 'postgres') {
    const { openMoveTarget } = await import('./postgres/move/move-target.ts');
    return openMoveTarget(place.url, sourceName);
  }
  const { openMoveTarget } = await import('./sqlite/move/move-target.ts');
  return openMoveTarget(place.directory, sourceName);
}
