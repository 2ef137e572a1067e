import type { Findings } from './finding.ts';

/** The stored numbers of one series, as one commit left them. */
export interface StoredSeries {
  readonly name: string;
  /** How many datapoints were put into chunks. */
  readonly sealed: number;
  /** How many are in chunks, set aside, and taken by retention. */
  readonly held: number;
  readonly aside: number;
  readonly gone: number;
  /** Chunks that overlap the one before. */
  readonly mixed: number;
}

/** Whether a series has as many datapoints in chunks as were put there, in their order. */
export function checkSeries(
  { name, sealed, held, aside, gone, mixed }: StoredSeries,
  { damage }: Findings,
): void {
  const due = sealed - gone;
  if (held + aside < due) {
    damage('counts', `Of ${name} ${due - held - aside} datapoints of ${due} are missing.`);
  } else if (held > due) {
    damage('counts', `${name} has ${held} datapoints in chunks, and counts ${due}.`);
  }
  if (mixed > 0) {
    damage('order', `${mixed} chunks of ${name} overlap the one before: reads mix them up.`);
  }
}
