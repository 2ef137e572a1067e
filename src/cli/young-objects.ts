import { setFlagsFromString } from 'node:v8';

/** Sets the growth factor of V8's young generation, once as much as it holds survived. */
const growth = (factor: number): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`);

/**
 * Keeps the young generation as small as it began, until the answer is called. While a service
 * starts, nearly all that is made stays, which V8 takes for a reason to grow the young generation
 * up to its maximum, and it keeps that for good. Afterwards it grows in two steps: the objects of a
 * push live as long as its commit, and those that are taken for old meanwhile are collected late
 * [decision 0012].
 */
export function keepYoungGenerationSmall(): () => void {
  growth(1);
  return () => growth(4);
}
