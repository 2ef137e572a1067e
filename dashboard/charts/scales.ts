/** The name of the scale of values; each plot has one, for its unit. */
export const valueScale = 'y';

/** Values this close to one another, as a share of them, are drawn as one. */
const flatShare = 1e-12;

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
  // Marks of an axis between them would fall on one double, and never come to an end.
  const isFlat = top - bottom <= Math.max(Math.abs(top), Math.abs(bottom)) * flatShare;
  const room = isFlat ? Math.max(Math.abs(top) * 0.1, 0.5) : (top - bottom) * 0.08;
  return [bottom - room, top + room];
}

/** The ends of a scale of bars, which stand on 0. */
export function barEnds(low: number | null, high: number | null): readonly [number, number] {
  const [bottom, top] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)];
  const room = top === bottom ? 1 : (top - bottom) * 0.1;
  return [bottom < 0 ? bottom - room : 0, top + room];
}
