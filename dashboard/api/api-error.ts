export interface ExactRefusal {
  readonly code: string;
  readonly params: Readonly<Record<string, string | number>>;
}

/** A refusal of the service, or no answer at all (status 0, code offline). */
export class ApiError extends Error {
  readonly status: number;
  /** The kind of refusal. */
  readonly code: string;
  /** Exact code and parameters of the refusal; absent of an older service. */
  readonly exact: ExactRefusal | undefined;
  /** Present when the service asks to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor(options: {
    readonly status: number;
    readonly code: string;
    readonly description: string;
    readonly exact?: ExactRefusal | undefined;
    readonly retryAfterSeconds?: number | undefined;
    readonly cause?: unknown;
  }) {
    super(options.description, { cause: options.cause });
    this.name = 'ApiError';
    this.status = options.status;
    this.code = options.code;
    this.exact = options.exact;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whether nothing was answered: the network's fault, and worth trying again. */
export function isOffline(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'offline';
}
