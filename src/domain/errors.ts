/** Every refusal the service knows, with what it means to a client. */
export const errorCodes = {
  invalid: 'The request is malformed: the description names the field and what it must be.',
  unauthenticated: 'The credentials are wrong, or the token or key is invalid or expired.',
  forbidden: 'The caller lacks the right.',
  not_found:
    'The device, sensor, actuator, gateway, project, group, message, correction or user is gone.',
  conflict: 'The id or username is taken.',
  blocked: 'Something else has to be done first, or the time for it is over; see the description.',
  gone: 'The invitation has expired, was used up or revoked, or its giver may not share any more.',
  too_large: 'The body or a value in it is larger than the limit; the description says which.',
  rate_limited: 'Too much at once; the description names what. Try again after Retry-After.',
  limit_reached: 'There may be no more: the description names the budget and who may raise it.',
  storage_full: 'The storage quota is used up, or the disk is full or nearly so. Reads go on.',
  unavailable: 'The service cannot store right now (queue full, database down); retry.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** A refusal: the client can act on it. Anything else that is thrown is a bug. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  /** For rate_limited and unavailable: seconds after which a retry makes sense. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The refusal of a client that did too much and has to wait; `what` there was too much of. */
export function tooMany(what: string, waitMs: number): DomainError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  const message = `too many ${what}: try again in ${retryAfterSeconds} s`;
  return new DomainError('rate_limited', message, { retryAfterSeconds });
}

/** Whether the store failed, or was full, rather than the request being wrong. */
export const isFailureToStore = ({ code }: DomainError): boolean =>
  code === 'unavailable' || code === 'storage_full';

/** Why the work is refused; undefined: it is not. Throws what is no refusal. */
export function refusalOf(work: () => void): DomainError | undefined {
  try {
    work();
    return undefined;
  } catch (reason) {
    if (reason instanceof DomainError) return reason;
    throw reason;
  }
}

export const invalid = (message: string): DomainError => new DomainError('invalid', message);
export const notFound = (message: string): DomainError => new DomainError('not_found', message);
export const forbidden = (message: string): DomainError => new DomainError('forbidden', message);
export const conflict = (message: string): DomainError => new DomainError('conflict', message);
export const gone = (message: string): DomainError => new DomainError('gone', message);
export const unauthenticated = (message: string): DomainError =>
  new DomainError('unauthenticated', message);
