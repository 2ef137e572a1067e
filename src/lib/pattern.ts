import { createRequire } from 'node:module';
import type * as Engine from 're2js';

/** How much work a pattern may cause. */
export interface PatternBounds {
  readonly sourceCharactersMax: number;
  /** Instructions of the compiled pattern: each character of a text costs up to so many steps. */
  readonly instructionsMax: number;
  /** A longer text does not match. */
  readonly textCharactersMax: number;
}

/** A compiled regular expression. */
export interface Pattern {
  /** Whether the pattern is found anywhere in the text; `^` and `$` anchor it. */
  test(text: string): boolean;
  /** The cost of each character of a text, in steps. */
  readonly instructions: number;
}

/** A pattern that is malformed or too large; the message says how. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/**
 * Compiles a regular expression written by a stranger. Throws PatternError.
 *
 * The only file of this folder that imports a package: JavaScript's own expressions may take
 * exponential time, and an engine that is always linear (RE2: no look-around, no back references)
 * is not a thing to write in passing.
 */
export function compilePattern(source: string, bounds: PatternBounds): Pattern {
  const { sourceCharactersMax, instructionsMax, textCharactersMax } = bounds;
  if (source.length > sourceCharactersMax) {
    throw new PatternError(`the pattern is longer than ${sourceCharactersMax} characters`);
  }
  const compiled = compile(source);
  if (compiled.programSize() > instructionsMax) {
    throw new PatternError('the pattern is too large: use fewer or smaller repetitions');
  }
  const instructions = compiled.programSize();
  return { instructions, test: (text) => text.length <= textCharactersMax && compiled.test(text) };
}

const load = createRequire(import.meta.url);
let engine: typeof Engine | undefined;

function compile(source: string): Engine.RE2JS {
  // With the first pattern, in some 20 ms: its tables of letters take more memory than most need.
  engine ??= load('re2js') as typeof Engine;
  const { RE2JS, RE2JSException } = engine;
  try {
    return RE2JS.compile(source);
  } catch (reason) {
    if (!(reason instanceof RE2JSException)) throw reason;
    const problem = reason.message.replace('error parsing regexp: ', '');
    throw new PatternError(`the pattern is malformed: ${problem}`);
  }
}
