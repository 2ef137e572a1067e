/** The y scale that a unit is drawn on. */
export interface UnitScale {
  readonly key: string;
  readonly unit: string;
  /** Where its numbers stand; undefined: drawn to its own size, without numbers. */
  readonly side: 'left' | 'right' | undefined;
}

/** One scale for each unit, in order of appearance; the first two are labelled. */
export function scalesOf(units: readonly (string | undefined)[]): readonly UnitScale[] {
  return [...new Set(units.map((unit) => unit ?? ''))].map((unit, index) => ({
    key: scaleKey(unit),
    unit,
    side: index === 0 ? 'left' : index === 1 ? 'right' : undefined,
  }));
}

/** The name of the scale of a unit. */
export const scaleKey = (unit: string | undefined): string => `y:${unit ?? ''}`;

/** The ends of a scale: room around the values, and around a line that must be seen. */
export function scaleEnds(
  low: number | null,
  high: number | null,
  alsoSeen: readonly number[],
): readonly [number, number] {
  const seen = [low, high, ...alsoSeen].filter(
    (value): value is number => value !== null && Number.isFinite(value),
  );
  if (seen.length === 0) return [0, 1];
  const bottom = Math.min(...seen);
  const top = Math.max(...seen);
  const room = top === bottom ? Math.max(Math.abs(top) * 0.1, 0.5) : (top - bottom) * 0.08;
  return [bottom - room, top + room];
}
