import type { Correction, Datapoint } from '../../api/types.ts';

/** A datapoint as it is read with `raw=true`. */
export type Pushed = Datapoint & { readonly correction?: string };

/** Which value a correction took away, and what is shown in its place; nothing after a removal. */
export interface Change {
  readonly before: unknown;
  readonly after?: unknown;
}

/** More values of one correction are only counted. */
export const changesMax = 3;

const keyOf = ({ timestamp, date_received }: Datapoint): string => timestamp ?? `${date_received}`;

/**
 * First values of a correction before and after it, from the values pushed and those shown in its
 * time. Where a later correction changed them again nothing is known of this one.
 */
export function changesOf(
  { id, kind }: Pick<Correction, 'id' | 'kind'>,
  pushed: readonly Pushed[],
  shown: readonly Datapoint[],
): readonly Change[] {
  const after = new Map(shown.map((datapoint) => [keyOf(datapoint), datapoint.value]));
  return pushed
    .filter(({ correction }) => correction === id)
    .slice(0, changesMax)
    .map((datapoint) => ({
      before: datapoint.value,
      ...(kind === 'corrected' && { after: after.get(keyOf(datapoint)) }),
    }));
}
