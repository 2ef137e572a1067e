import type pg from 'pg';
import { UnusableStorageError } from '../unusable-storage-error.ts';
import { typeParsers } from './connection.ts';
import { postgresLimits } from './postgres-limits.ts';
import { clientClass } from './primary.ts';

const { connectMs, statementMs, keepAliveSeconds, serverVersionMin, idleCommitMs } = postgresLimits;

/** How a connection is made; `part` is what it is for. */
export function clientConfig(url: string, part: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: `kipimo ${part}`,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    statement_timeout: statementMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveSeconds * 1_000,
    types: typeParsers,
  };
}

/**
 * Opens the connection that writes, and checks whether the server is one we can use. Throws
 * UnusableStorageError when a person has to mend something.
 */
export async function connectWriter(url: string): Promise<pg.Client> {
  const Client = clientClass(url);
  // A pipeline: a caller that does not wait for a statement sends the next one behind it.
  const client = new Client({ ...clientConfig(url, 'writes'), pipeline: true });
  // The statement that fails reports it to the user of the connection.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(sessionSettings);
    await checkServer(client);
    return client;
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

/** Acknowledged changes are on disk however the server is set, and it soon notices our end. */
const sessionSettings = `
  select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') in ('off', 'local', 'remote_write');
  set tcp_keepalives_idle = ${keepAliveSeconds};
  set tcp_keepalives_interval = ${keepAliveSeconds};
  set client_min_messages = warning;
  set tcp_keepalives_count = 3;
  set tcp_user_timeout = ${keepAliveSeconds * 4_000};
  set idle_in_transaction_session_timeout = ${idleCommitMs}`;

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    select current_setting('server_version_num')::integer as version,
      current_setting('server_version') as name, current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as standby, current_schema() as schema`);
  const [{ version, name, encoding, standby, schema }] = rows;
  if (version < serverVersionMin) {
    throw new UnusableStorageError(
      `the database server is PostgreSQL ${name}: Kipimo needs version 15 or newer`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new UnusableStorageError(
      `the database has the encoding ${encoding}: create it with the encoding UTF8`,
    );
  }
  if (standby) {
    throw new UnusableStorageError(
      'KIPIMO_DATABASE_URL names a standby, which takes no changes: name the primary',
    );
  }
  if (schema === null) {
    throw new UnusableStorageError(
      'the database has no schema for our tables: create the one that search_path names',
    );
  }
}

/** The reason, for the person who starts the service; never the URL: it has a password. */
export function unusable(error: unknown): UnusableStorageError {
  if (error instanceof UnusableStorageError) return error;
  const reason = error instanceof AggregateError ? error.errors.map(String).join('; ') : error;
  const words = reason instanceof Error ? reason.message : String(reason);
  return new UnusableStorageError(
    `the database of KIPIMO_DATABASE_URL cannot be opened: ${words}`,
    error,
  );
}
