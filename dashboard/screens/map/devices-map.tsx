import type { JSX } from 'preact';
import type { Device } from '../../api/types.ts';
import { Skeleton } from '../../ui/skeleton.tsx';

/** Devices on a map. */
export function DevicesMap(_props: { readonly devices: readonly Device[] }): JSX.Element {
  return <Skeleton height={320} />;
}
