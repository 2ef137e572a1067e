import { after } from 'node:test';
import {
  hasPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from './postgres-server.ts';

/** For `skip`: why tests with a server of PostgreSQL cannot run; false: they can. */
export const noPostgres: string | false = hasPostgres() ? false : 'needs PostgreSQL';

let server: Promise<PostgresServer> | undefined;
after(async () => (await server)?.close());

/** The server of the tests of this process, started for the first that asks, closed at the end. */
export function postgresOfTests(): Promise<PostgresServer> {
  server ??= sharedPostgres();
  return server;
}

/** The URL of a schema on it that has nothing yet: an empty database for Kipimo. */
export async function emptySchemaCalled(name: string): Promise<string> {
  const { url } = await postgresOfTests();
  // Other processes may test on the same server.
  const own = `${name}-${process.pid}`;
  await onServer(url, `drop schema if exists "${own}" cascade`);
  return schemaUrl(url, own);
}
