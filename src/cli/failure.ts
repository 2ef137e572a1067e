import { ConfigError } from '../config.ts';

/** What went wrong, as sentences for the person at the terminal. */
export function sentencesOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (!(error instanceof Error)) return [String(error)];
  return [error.message];
}
