import { setFlagsFromString } from 'node:v8';

/** How V8 lets the young generation grow once much of it survived: by default to its double. */
const growth = (factor: number): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`);

/**
 * Keeps the young generation as small as it began, until the answer is called. While a service
 * starts, nearly all that is made stays, which V8 takes for a reason to grow the young generation
 * up to its maximum, and it keeps that for good [decision 0012].
 */
export function keepYoungGenerationSmall(): () => void {
  growth(1);
  return () => growth(2);
}
