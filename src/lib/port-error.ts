/** The error of a port that cannot be listened on; the message says which, and what to do. */
export class PortError extends Error {
  constructor(options: {
    readonly port: number;
    /** The setting that chose the port, for instance KIPIMO_HTTP_PORT. */
    readonly setting: string;
    readonly cause: unknown;
  }) {
    const { port, setting, cause } = options;
    super(sentence(cause, port, setting), { cause });
    this.name = 'PortError';
  }
}

function sentence(cause: unknown, port: number, setting: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is taken: stop what listens there, or choose another with ${setting}`;
    case 'EACCES':
      return (
        `port ${port} is not open to this user: choose one above 1023 with ${setting}, ` +
        'or grant the right'
      );
    case 'ENOTFOUND':
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address: set KIPIMO_HOST to one of its own, or to its name';
    default:
      return `port ${port} (${setting}) cannot be opened: ${String(cause)}`;
  }
}
