import { DomainError } from '../../domain/errors.ts';

/** The code of an error that the server raised; undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const diskFull = '53100';
const tooManyConnections = '53300';
/** The connection is over, or about to be: shutdown, crash, too many connections. */
const endsConnection = /^(08|57P0|53300|25006|57014|25P03|57P05)/;
/** Words of Citus with the state of an internal error: a server went, maybe in a commit. */
const endsCitus = /^(postmaster was shut down, exiting$|could not commit transaction for shard )/;
/** The server does not do its part: resources, files, its own faults. */
const isOfServer = /^(53|54|55|58|40)/;
/** Whether the server has no capacity for one more connection, of all or of this role. */
export const isFull = (error: unknown): boolean => sqlStateOf(error) === tooManyConnections;
const conflicts: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);
const uniqueViolation = '23505';

/**
 * Whether it was undone for another commit: tried again, it finds what that one left. A sensor that
 * was made again while a commit waited for its locks may have another's row at an ordinal.
 */
export function isConflict(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== uniqueViolation) return conflicts.has(state);
  // Citus names the table by its part.
  return /^hot(_\d+)?$/.test(String((error as { readonly table?: unknown }).table));
}

/** Whether the connection is lost or useless, so that a new one has to be made. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (!(error instanceof Error)) return false;
  if (state !== undefined) return endsConnection.test(state) || endsCitus.test(error.message);
  return !(error instanceof DomainError) && isOfNetwork(error);
}

const networkCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ECONNABORTED', 'ERR_STREAM_DESTROYED', 'ENETDOWN'],
]);
// The driver has words for it, and no codes.
const networkWords =
  /connection terminated|connection ended|not queryable|timeout|client was closed|disconnected/i;

function isOfNetwork(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return networkCodes.has(code) || networkWords.test(error.message) || hasNetworkPart(error);
}

/** Several addresses of one name were tried. */
const hasNetworkPart = (error: Error): boolean =>
  error instanceof AggregateError && error.errors.some((one) => isConnectionLost(one));

export const awaySentence = 'the database cannot be reached: try again in a moment';
const fullSentence =
  'the disk of the database is full: what is stored stays readable; ' +
  'an administrator must make room';

/** Turns what the database refuses into DomainError; leaves bugs as they are. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const state = sqlStateOf(error);
  if (state === diskFull) return new DomainError('storage_full', fullSentence, { cause: error });
  if (isConnectionLost(error)) return unavailable(awaySentence, error);
  if (state === undefined || !isOfServer.test(state)) return error;
  return unavailable('the database refuses this for now: try again in a moment', error);
}

export function unavailable(sentence: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', sentence, {
    retryAfterSeconds: 5,
    ...(cause !== undefined && { cause }),
  });
}
