/**
 * Runs synchronous work whose errors have no stack trace: one costs ten times what the error itself
 * does, and no reader wants it where errors are answers to thousands of lines.
 */
export function withoutStackTraces<Result>(work: () => Result): Result {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
}
