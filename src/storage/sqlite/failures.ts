import { DomainError } from '../../domain/errors.ts';

// https://sqlite.org/rescode.html: what the machine refuses, not what our statements did wrong.
const sentences = new Map<number, string>([
  [3, 'the database file may not be opened: check its permissions'],
  [5, 'the database is busy: another process holds it'],
  [6, 'the database is locked'],
  [7, 'the machine has no memory left for the database'],
  [8, 'the database file cannot be written: check its permissions and the file system'],
  [10, 'the disk failed while the database used it'],
  [11, 'the database file is damaged: restore a backup'],
  [13, 'the disk is full'],
  [14, 'the database file cannot be opened'],
  [15, 'the database is locked'],
  [26, 'the database file is not a SQLite database'],
]);

/** The primary result code of an error that SQLite raised; undefined for any other error. */
export function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** What is wrong with the machine, as a sentence; undefined when the error is a bug of ours. */
export function describeFailure(error: unknown): string | undefined {
  const code = resultCodeOf(error);
  return code === undefined ? undefined : sentences.get(code);
}

/** Turns what the machine refuses into DomainError unavailable; leaves other errors as they are. */
export function asRefusal(error: unknown): unknown {
  const sentence = describeFailure(error);
  return sentence === undefined
    ? error
    : new DomainError('unavailable', sentence, { cause: error, retryAfterSeconds: 5 });
}

/** Runs one read; a failing disk becomes a rejection with DomainError unavailable. */
export async function readSafely<Answer>(read: () => Answer): Promise<Answer> {
  try {
    return read();
  } catch (error) {
    throw asRefusal(error);
  }
}
