import { createStorageQuotas, type StorageQuotas } from '../src/domain/budgets/storage-quotas.ts';

/** Room without an end: for parts that are tried alone. */
export const endlessRoom = (): StorageQuotas =>
  createStorageQuotas({
    guestsBytesMax: Number.POSITIVE_INFINITY,
    diskFloorBytes: 0,
    disk: { freeBytes: () => undefined, sizeBytes: undefined },
  });
