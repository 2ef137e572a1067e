import { destination, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { Log } from '../lib/log.ts';

const redacted = '[redacted]';

/** Deeper than any field we log on purpose; what lies below is not shown. */
const depthMax = 6;

const secretWords: ReadonlySet<string> = new Set([
  'password',
  'token',
  'key',
  'authorization',
  'phone',
  'email',
]);

/** A Log that writes one JSON object per line; fields whose name speaks of a secret are blotted. */
export function createPinoLog(options: {
  readonly level: 'error' | 'warn' | 'info' | 'debug' | 'silent';
  /** Absent: standard output. */
  readonly output?: { write(line: string): void };
}): Log {
  // Synchronous: a line about a crash must be out before the process is gone.
  const output = options.output ?? destination({ fd: 1, sync: true });
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (level) => ({ level }),
        log: (fields) => redact(fields),
      },
      serializers: { err: stdSerializers.errWithCause, error: stdSerializers.errWithCause },
    },
    output,
  );
  return {
    error: (fields, message) => logger.error(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    info: (fields, message) => logger.info(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
  };
}

function redact(fields: object, depth = 1): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      isSecretName(name) ? redacted : redactValue(value, depth),
    ]),
  );
}

function redactValue(value: unknown, depth: number): unknown {
  // Errors keep their shape: the serializer of pino knows what to show of them.
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth >= depthMax) return '[deeper]';
  if (Array.isArray(value)) return value.map((item: unknown) => redactValue(item, depth + 1));
  return redact(value, depth + 1);
}

/** Whether one of the words a name is made of is a secret's: accessToken, api_key, phones. */
function isSecretName(name: string): boolean {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((word) => secretWords.has(word) || secretWords.has(word.replace(/s$/, '')));
}
