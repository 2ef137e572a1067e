import { createStorageRoom, type StorageRoom } from '../src/domain/budgets/storage-room.ts';

/** Room without an end: for parts that are tried alone. */
export const endlessRoom = (): StorageRoom =>
  createStorageRoom({
    guestsBytesMax: Number.POSITIVE_INFINITY,
    diskFloorBytes: 0,
    disk: { freeBytes: () => undefined, sizeBytes: undefined },
  });
