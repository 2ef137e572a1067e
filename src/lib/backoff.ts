/**
 * The pause before the next try: doubled with each attempt up to `maxMs`, and a quarter shorter or
 * longer by chance, so that those who failed together do not come back together.
 */
export function backoffMs(
  attempt: number,
  options: { readonly minMs: number; readonly maxMs: number; readonly random: () => number },
): number {
  const { minMs, maxMs, random } = options;
  const pause = Math.min(maxMs, minMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(pause * (0.75 + 0.5 * random()));
}
