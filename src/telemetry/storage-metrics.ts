import type { StorageRoom } from '../domain/budgets/storage-room.ts';
import type { Meters } from './meters.ts';

export type StorageMetrics = ReturnType<StorageRoom['metrics']>;

/** Adds what is stored, as quotas count it, and how often there was no room. */
export function addStorageMetrics({ watched }: Meters, read: () => StorageMetrics): void {
  watched(
    'gauge',
    'kipimo_stored_bytes',
    {
      help: 'What is stored, as quotas count it: of all, and of it what belongs to the guest.',
      labels: ['owner'],
    },
    () => [
      [read().total, { owner: 'all' }],
      [read().guests, { owner: 'guest' }],
    ],
  );
  watched(
    'gauge',
    'kipimo_storage_refusals',
    { help: 'How often something was refused since the start for a quota or a nearly full disk.' },
    () => [[read().refusals]],
  );
}
