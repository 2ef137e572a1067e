import { ConfigError } from '../config.ts';

/** What went wrong, as sentences for the person at the terminal. */
export function sentencesOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (!(error instanceof Error)) return [String(error)];
  return [sentenceOfSystem(error) ?? error.message];
}

/** Failures of the operating system that people meet at the first start. */
function sentenceOfSystem(error: Error): string | undefined {
  if (!('code' in error)) return undefined;
  const port = 'port' in error ? String(error.port) : undefined;
  switch (error.code) {
    case 'EADDRINUSE':
      return (
        `port ${port ?? '(unknown)'} is taken: stop what listens there, or choose another ` +
        'with KIPIMO_HTTP_PORT, KIPIMO_MQTT_PORT or KIPIMO_MQTTS_PORT'
      );
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address: set KIPIMO_HOST to one of its own';
    case 'EACCES':
      return port === undefined
        ? undefined
        : `port ${port} is not open to this user: choose one above 1023, or grant the right`;
    default:
      return undefined;
  }
}
