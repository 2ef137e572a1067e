/** A coordinate as people type it: 5.614, 5,614, 5.614° N, -0.2, 0.2 W. */
export function parseCoordinate(text: string, max: 90 | 180): number | undefined {
  const match = /^\s*([-+]?\d{1,3}(?:[.,]\d+)?)\s*°?\s*([nsewo])?\s*$/i.exec(text);
  if (match === null) return undefined;
  const number = Number((match[1] ?? '').replace(',', '.'));
  const side = match[2]?.toLowerCase();
  // French and Portuguese say O for west (ouest, oeste).
  const isTurned = side === 's' || side === 'w' || side === 'o';
  const value = isTurned ? -number : number;
  if (side !== undefined && (max === 90) !== (side === 'n' || side === 's')) return undefined;
  return Math.abs(value) <= max ? value : undefined;
}

/** Six decimals are a tenth of a metre; more is no knowledge. */
export const roundCoordinate = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Brings a longitude from beyond the edge of the map back: 190 is -170. */
export function wrapLongitude(longitude: number): number {
  return ((((longitude + 180) % 360) + 360) % 360) - 180;
}
