import type { StorageQuotas } from '../domain/budgets/storage-quotas.ts';
import type { Meters } from './meters.ts';

export type StorageMetrics = ReturnType<StorageQuotas['metrics']>;

/** Adds what is stored, as quotas count it, and how often storage was refused. */
export function addStorageMetrics({ watched }: Meters, read: () => StorageMetrics): void {
  watched(
    'gauge',
    'kipimo_stored_bytes',
    {
      help:
        'What is stored, as quotas count it: of all, and of it what belongs to the guest, what ' +
        'accounts have that signed themselves up, and what strangers pushed to public devices.',
      labels: ['owner'],
    },
    () => [
      [read().total, { owner: 'all' }],
      [read().guests, { owner: 'guest' }],
      [read().signUps, { owner: 'sign_ups' }],
      [read().strangers, { owner: 'strangers' }],
    ],
  );
  watched(
    'gauge',
    'kipimo_storage_refusals',
    { help: 'How often something was refused since the start for a quota or a nearly full disk.' },
    () => [[read().refusals]],
  );
}
