import { lastHeardAt } from '../../api/freshness.ts';
import type { Device } from '../../api/types.ts';

/** Names as people sort them: 2 before 10. */
const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

export const byName = (a: Device, b: Device): number =>
  names.compare(a.name ?? a.id, b.name ?? b.id) || names.compare(a.id, b.id);

/** What an alert is about first, then the longest silence. */
export function byTrouble(
  devices: readonly Device[],
  concerns: ReadonlyMap<string, string>,
): readonly Device[] {
  const isCalm = (device: Device): number => Number(!concerns.has(device.id));
  const heard = (device: Device): number => lastHeardAt(device) ?? 0;
  return devices.toSorted((a, b) => isCalm(a) - isCalm(b) || heard(a) - heard(b) || byName(a, b));
}
