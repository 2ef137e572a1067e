/** Named facts that go with a log line. No tokens, passwords, phone numbers or measured values. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The log. error: someone must act; warn: we healed; info: lifecycle; debug: off in production. */
export interface Log {
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
}

/** A log that keeps nothing. */
export const silentLog: Log = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
