import { signal } from '@preact/signals';

/** Counts what was corrected or undone on this page: what is drawn of values is read anew. */
export const correctionsMade = signal(0);

export function tellCorrected(): void {
  correctionsMade.value += 1;
}
