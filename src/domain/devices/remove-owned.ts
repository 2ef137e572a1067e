import type { DeviceId, Username } from '../ids.ts';
import type { DeviceStore } from './device.ts';

/**
 * Removes the devices of an owner, some hundred devices and sensors at a time: an account may have
 * millions, and in one step all other writes would wait for them.
 */
export async function removeDevicesOf(
  store: Pick<DeviceStore, 'candidates' | 'readSome' | 'remove'>,
  owner: Username,
): Promise<void> {
  const wanted = owner.toLowerCase();

  async function removeAll(found: readonly DeviceId[]): Promise<void> {
    for (let ids = found; ids.length > 0; ) {
      const { devices, taken } = await store.readSome(ids);
      const owned = devices.filter((device) => device.owner.toLowerCase() === wanted);
      await Promise.all(owned.map(({ id }) => store.remove(id)));
      ids = ids.slice(taken);
    }
  }

  const search = { visibleTo: { who: 'everything' }, equals: new Map([['owner', owner]]) } as const;
  let page = await store.candidates(search);
  await removeAll(page.ids);
  while (page.next !== undefined) {
    page = await store.candidates({ ...search, after: page.next });
    await removeAll(page.ids);
  }
}
