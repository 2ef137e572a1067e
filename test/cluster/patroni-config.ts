import { readFileSync } from 'node:fs';
import { parse, parseDocument } from 'yaml';
import { findPostgres } from '../postgres-server.ts';

const configurationFile = new URL('../../deploy/patroni.yml', import.meta.url);

/** Where a server of the suite is, and by which links it reaches others and is reached. */
export interface PatroniPlace {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  readonly apiPort: number;
  /** Of the link by which the other servers reach its PostgreSQL. */
  readonly linkPort: number;
  /** Of the link to etcd. */
  readonly etcdPort: number;
}

interface Account {
  readonly username: string;
  readonly password: string;
}

/** Who may do everything in PostgreSQL, and who may change something by Patroni. */
export function credentials(): { readonly superuser: Account; readonly api: Account } {
  const { restapi, postgresql } = parse(readFileSync(configurationFile, 'utf8')) as {
    readonly restapi: { readonly authentication: Account };
    readonly postgresql: { readonly authentication: { readonly superuser: Account } };
  };
  return { superuser: postgresql.authentication.superuser, api: restapi.authentication };
}

const on = (port: number): string => `127.0.0.1:${port}`;

/** The configuration that we give to operators, but for addresses, folders and the watchdog. */
export function configurationFor(place: PatroniPlace): string {
  const text = readFileSync(configurationFile, 'utf8').replaceAll('10.0.0.0/24', '127.0.0.1/32');
  const document = parseDocument(text);
  const replace = (words: string, value: unknown): void => {
    const path = words.split('.');
    if (!document.hasIn(path)) throw new Error(`deploy/patroni.yml has no ${words}`);
    document.setIn(path, value);
  };
  replace('name', place.name);
  replace('restapi.listen', on(place.apiPort));
  replace('restapi.connect_address', on(place.apiPort));
  replace('etcd3.hosts', [on(place.etcdPort)]);
  // Else it would go to the address that etcd gives, past the link.
  document.setIn(['etcd3', 'use_proxies'], true);
  replace('postgresql.listen', on(place.port));
  replace('postgresql.connect_address', on(place.linkPort));
  replace('postgresql.bin_dir', findPostgres());
  replace('postgresql.data_dir', `${place.directory}/data`);
  replace('postgresql.pgpass', `${place.directory}/pgpass`);
  replace('postgresql.parameters.unix_socket_directories', place.directory);
  // What the operating system was given survives a killed process.
  document.setIn(['postgresql', 'parameters', 'fsync'], 'off');
  document.setIn(['postgresql', 'parameters', 'shared_buffers'], '32MB');
  // Nobody restarts the machine of the tests.
  replace('watchdog.mode', 'off');
  return document.toString();
}
