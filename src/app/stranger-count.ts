import type { StorageQuotas } from '../domain/budgets/storage-quotas.ts';
import { bytesPerWeight, weightOfBatch } from '../domain/datapoints/column-batch.ts';
import type { Push } from '../domain/datapoints/datapoint-store.ts';
import type { DeviceStore } from '../domain/devices/device.ts';
import type { DeviceId, Username } from '../domain/ids.ts';

/** How often what other processes counted is read, while strangers push. */
const readAgainMs = 10_000;

/** Bytes that strangers store: kept beside each device, so as to be known after a restart. */
export type StrangerCount = ReturnType<typeof createStrangerCount>;

export function createStrangerCount(
  devices: Pick<
    DeviceStore,
    'strangerBytes' | 'strangersByOwner' | 'addStrangerBytes' | 'storedBytes'
  >,
  room: Pick<StorageQuotas, 'strangers'>,
) {
  /** Bytes to give back with the next batch. */
  let surplus = new Map<DeviceId, number>();
  let readAt = performance.now();

  const bytesOf = ({ batch }: Push): number => bytesPerWeight * weightOfBatch(batch);

  /** Reads what is kept. */
  async function load(): Promise<void> {
    readAt = performance.now();
    room.strangers.recount(await devices.strangersByOwner());
  }

  return {
    load,
    /**
     * Keeps what the batch brings of strangers, beside its own commit; undefined: nothing. What is
     * there already, or is not stored, is given back with `settle`.
     */
    keep(batch: readonly Push[]): Promise<void> | undefined {
      if (!batch.some(({ isByStranger }) => isByStranger === true)) return undefined;
      const added = surplus;
      surplus = new Map();
      for (const push of batch) {
        if (push.isByStranger !== true) continue;
        added.set(push.deviceId, (added.get(push.deviceId) ?? 0) + bytesOf(push));
      }
      // Of other processes; what fails is read the next time.
      if (performance.now() - readAt > readAgainMs) void load().catch(() => undefined);
      return devices.addStrangerBytes(added);
    },
    /** Counts what became of one push of a stranger, of so many bytes. */
    settle(push: Push, owner: Username, bytes: number): void {
      room.strangers.add(owner, bytes);
      const less = bytesOf(push) - bytes;
      if (less > 0) surplus.set(push.deviceId, (surplus.get(push.deviceId) ?? 0) - less);
    },
    /** Gives back the strangers' part of what was freed of a device. */
    async giveBack(deviceId: DeviceId, owner: Username, freed: number): Promise<void> {
      if (freed <= 0 || room.strangers.of(owner) === 0) return;
      const [ofStrangers, left] = await Promise.all([
        devices.strangerBytes(deviceId),
        devices.storedBytes(deviceId),
      ]);
      // Unknown whose datapoints went: as many of strangers as there are among all.
      const bytes = Math.min(ofStrangers, Math.ceil((ofStrangers * freed) / (left + freed)));
      if (bytes === 0) return;
      await devices.addStrangerBytes(new Map([[deviceId, -bytes]]));
      room.strangers.add(owner, -bytes);
    },
  };
}
