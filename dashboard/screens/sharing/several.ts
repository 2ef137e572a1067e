import type { Device } from '../../api/types.ts';
import { withoutPhotos } from '../../state/list-pages.ts';

/** Grants that are sent at a time. */
export const parallelMax = 4;
/** A longer list is narrowed by the search; as many as one page of the service. */
const devicesMax = 1_000;
const shownMax = 200;

/** What asks the service for the devices of this user. */
export const deviceTests = (owner: string) => ({
  q: `owner=='${owner.replaceAll("'", "''")}'`,
  limit: devicesMax,
  ...withoutPhotos,
});

/** Devices whose name or id holds what was typed, in any case; at most as many as one can read. */
export function selectable(
  devices: readonly Pick<Device, 'id' | 'name'>[],
  search: string,
): readonly Pick<Device, 'id' | 'name'>[] {
  const wanted = search.trim().toLowerCase();
  return devices
    .filter(({ id, name }) => `${name ?? ''} ${id}`.toLowerCase().includes(wanted))
    .slice(0, shownMax);
}
