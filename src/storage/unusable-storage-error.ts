/** The storage cannot be opened, and a person can mend it: the message says what to do. */
export class UnusableStorageError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UnusableStorageError';
  }
}
