import { statfsSync } from 'node:fs';
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

/** The fault of the machine, as a sentence; undefined when the error is a bug of ours. */
export function describeFailure(error: unknown): string | undefined {
  const code = resultCodeOf(error);
  return code === undefined ? undefined : sentences.get(code);
}

/** Full disk: SQLite says so, or an operation failed on a disk that has no space left. */
const fullCode = 13;
const inputOutputCode = 10;
const fullSentence =
  'the disk is full: what is stored stays readable; an administrator must make room';
/** A disk with less cannot hold a commit and the shared memory of the log. */
const roomBytesMin = 131_072;

/**
 * How a write is refused that the machine did not carry out [contract 14]; undefined when the error
 * is a bug of ours. `hasRoom` is asked after a failed operation of the disk alone.
 */
export function refusalOfWrite(error: unknown, hasRoom: () => boolean): WriteRefusal | undefined {
  const code = resultCodeOf(error);
  if (code === fullCode || (code === inputOutputCode && !hasRoom())) {
    return { code: 'storage_full', message: fullSentence };
  }
  const sentence = describeFailure(error);
  return sentence === undefined ? undefined : { code: 'unavailable', message: sentence };
}

/** Whether the disk of the directory has space for a commit; true where that is unknown. */
export function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= roomBytesMin;
  } catch {
    return true;
  }
}

/** A refusal as the caller of a write receives it. */
export interface WriteRefusal {
  readonly code: 'storage_full' | 'unavailable';
  readonly message: string;
}

/**
 * Turns what the machine refuses a read into DomainError unavailable; leaves other errors as they
 * are.
 */
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
