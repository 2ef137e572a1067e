import { Gauge, type Registry } from 'prom-client';
import type { StorageRoom } from '../domain/budgets/storage-room.ts';

export type StorageMetrics = ReturnType<StorageRoom['metrics']>;

/** Adds what is stored, as quotas count it, and how often there was no room. */
export function addStorageMetrics(registry: Registry, read: () => StorageMetrics): void {
  new Gauge({
    name: 'kipimo_stored_bytes',
    help: 'What is stored, as quotas count it: of all, and of it what belongs to the guest.',
    labelNames: ['owner'],
    registers: [registry],
    collect() {
      const { total, guests } = read();
      this.set({ owner: 'all' }, total);
      this.set({ owner: 'guest' }, guests);
    },
  });
  new Gauge({
    name: 'kipimo_storage_refusals',
    help: 'How often something was refused since the start for a quota or a nearly full disk.',
    registers: [registry],
    collect() {
      this.set(read().refusals);
    },
  });
}
