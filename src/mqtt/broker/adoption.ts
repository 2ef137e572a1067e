import type { ClaimedSession, SharedSessions } from '../../domain/messaging/session-store.ts';
import type { WantedValues } from './wanted-values.ts';
import type { Wills } from './wills.ts';

interface Adopting {
  readonly shared: Pick<SharedSessions, 'adopt' | 'adoptWills'>;
  readonly wanted: Pick<WantedValues, 'taking'>;
  readonly wills: Pick<Wills, 'inherit'>;
}

/** Takes over the wills and sessions of processes that ended. */
export async function adoptAll(
  { shared, wanted, wills }: Adopting,
  restore: (adopted: readonly ClaimedSession[]) => void,
  isOver: () => boolean,
): Promise<void> {
  for (let left = await shared.adoptWills(); left.length > 0; ) {
    for (const will of left) wills.inherit(will);
    left = await shared.adoptWills();
  }
  const taken = wanted.taking();
  let areAny = true;
  try {
    const first = await shared.adopt();
    areAny = first.length > 0;
    for (let adopted = first; adopted.length > 0; adopted = isOver() ? [] : await shared.adopt())
      restore(adopted);
  } finally {
    taken(areAny);
  }
}
