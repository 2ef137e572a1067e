import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { serverUrls } from '../../lib/server-urls.ts';
import { postgresLimits } from './postgres-limits.ts';

/** A server that takes changes. */
interface Primary {
  readonly host: string;
  readonly port: number;
  readonly cluster: string;
  /** The number of its promotion: each primary of a cluster has a higher one. */
  readonly timeline: number;
}

/** Classes by URL: all clients of this process learn of the primary from each other. */
const classes = new Map<string, typeof pg.Client>();

/**
 * The class of clients for a URL. Where it names several servers of one cluster, each client finds
 * the one that takes changes at the moment when it connects. Once one client has found the next
 * primary, those that are connected to the one before are ended: that may stand still, or not know
 * yet that it is none any more, and answer with what was true before.
 */
export function clientClass(url: string): typeof pg.Client {
  const known = classes.get(url);
  if (known !== undefined) return known;
  const servers = serverUrls(url);
  const made = servers.length === 1 ? pg.Client : classOf(servers);
  classes.set(url, made);
  return made;
}

function classOf(servers: readonly string[]): typeof pg.Client {
  const open = new Map<pg.Client, Primary>();
  /** The last timeline of each cluster: one that is made anew begins at the first again. */
  const newest = new Map<string, number>();
  const isFormer = ({ cluster, timeline }: Primary) => timeline < (newest.get(cluster) ?? 0);

  function keep(client: pg.Client, primary: Primary): void {
    open.set(client, primary);
    client.once('end', () => open.delete(client));
    if (!isFormer(primary)) newest.set(primary.cluster, primary.timeline);
    for (const [other, its] of open) if (isFormer(its)) other.connection.stream.destroy();
  }

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
      const primary = await findPrimary(servers, this.#config);
      const { host, port } = primary;
      if (isFormer(primary)) throw readOnly(`${host}:${port} was replaced by another primary`);
      const place = { host, port };
      Object.assign(this, place);
      // Passwords of ~/.pgpass are those of a server.
      if ('connectionParameters' in this) Object.assign(Object(this.connectionParameters), place);
      await super.connect();
      keep(this, primary);
      return this;
    }
  };
}

/**
 * The server that takes changes; of several, the one that was promoted last: a primary of before
 * that stood still takes changes until it is told, and commits none of them. Throws when none does.
 */
async function findPrimary(servers: readonly string[], config: pg.ClientConfig): Promise<Primary> {
  const found: Primary[] = [];
  const probes = servers.map(async (server) => {
    found.push(await probe({ ...config, connectionString: server }));
  });
  await Promise.any(probes);
  const all = Promise.allSettled(probes);
  await Promise.race([all, wait(postgresLimits.otherPrimaryMs, undefined, { ref: false })]);
  return found.reduce((last, one) => (one.timeline > last.timeline ? one : last));
}

// The first eight digits of a file of the log are the timeline; a standby writes none.
const selectState = `
  select current_setting('transaction_read_only') = 'off' as takes_changes,
    (select system_identifier::text from pg_control_system()) as cluster,
    case when not pg_is_in_recovery() then
      ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end as timeline`;

async function probe(config: pg.ClientConfig): Promise<Primary> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { host, port } = client;
    const { rows } = await client.query(selectState);
    const [{ takes_changes, cluster, timeline }] = rows;
    if (takes_changes && timeline !== null) return { host, port, cluster, timeline };
    throw readOnly(`${host}:${port} is a standby, which takes no changes`);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** As the server would say it to a change: a caller that waits for a primary tries again. */
const readOnly = (sentence: string): Error =>
  Object.assign(new Error(sentence), { code: '25006', severity: 'ERROR' });
