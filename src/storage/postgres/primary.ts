import pg from 'pg';
import { serverUrls } from '../../lib/server-urls.ts';

/** Where a server is. */
interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * The class of clients for a URL. Where it names several servers of one cluster, each client finds
 * the one that takes changes at the moment when it connects.
 */
export function clientClass(url: string): typeof pg.Client {
  const servers = serverUrls(url);
  if (servers.length === 1) return pg.Client;
  return class extends pg.Client {
    readonly #config: pg.ClientConfig;

    constructor(config: pg.ClientConfig) {
      const [connectionString = ''] = servers;
      super({ ...config, connectionString });
      this.#config = config;
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): unknown {
      const connecting = this.#connectToPrimary();
      if (callback === undefined) return connecting;
      // The driver says null where there is no error.
      const succeed = callback as (error: Error | null) => void;
      return connecting.then(() => succeed(null), callback);
    }

    async #connectToPrimary(): Promise<pg.Client> {
      const place = await findPrimary(servers, this.#config);
      Object.assign(this, place);
      // Passwords of ~/.pgpass are those of a server.
      if ('connectionParameters' in this) Object.assign(Object(this.connectionParameters), place);
      await super.connect();
      return this;
    }
  };
}

/** The first server that answers and takes changes. Throws when none does. */
const findPrimary = (servers: readonly string[], config: pg.ClientConfig): Promise<Place> =>
  Promise.any(servers.map((server) => probe({ ...config, connectionString: server })));

async function probe(config: pg.ClientConfig): Promise<Place> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { host, port } = client;
    const { rows } = await client.query('show transaction_read_only');
    if (rows[0]?.transaction_read_only === 'off') return { host, port };
    throw readOnly(`${host}:${port} is a standby, which takes no changes`);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** As the server would say it to a change: a caller that waits for a primary tries again. */
const readOnly = (sentence: string): Error =>
  Object.assign(new Error(sentence), { code: '25006', severity: 'ERROR' });
