import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { SqlSession } from '../../sql/session.ts';
import { UnusableStorageError } from '../../unusable-storage-error.ts';
import type { Writer } from '../writer.ts';

/** A shard as the main database and it itself know it. */
export interface ShardIdentity {
  readonly shard: number;
  readonly id: string;
}

/** What the main database knows of its shards. */
export interface ShardBook {
  /** A number that no shard had before. */
  reserve(): Promise<ShardIdentity>;
  /** From now on it may have chunks. Throws UnusableStorageError for one that is not ours. */
  join(identity: ShardIdentity): Promise<void>;
  /** Those that joined, in the order of their numbers. */
  joined(): Promise<readonly number[]>;
}

const reserveOne = 'insert into shards (id) values ($1) returning shard';
const markJoined = 'update shards set has_joined = true where shard = $1 and id = $2';
const listJoined = 'select shard from shards where has_joined order by shard';

export function createShardBook(reader: SqlSession, writer: Pick<Writer, 'call'>): ShardBook {
  return {
    reserve: () =>
      writer.call(async (tx) => {
        const id = randomUUID();
        const row = await tx.first<{ shard: number }>(reserveOne, id);
        return { shard: row?.shard ?? 0, id };
      }),
    async join({ shard, id }) {
      const joined = await writer.call((tx) => tx.run(markJoined, shard, id));
      if (joined === 0) throw foreign();
    },
    joined: async () => (await reader.all<{ shard: number }>(listJoined)).map(({ shard }) => shard),
  };
}

const foreign = (): UnusableStorageError =>
  new UnusableStorageError(
    'a further database in KIPIMO_DATABASE_URL has chunks of another installation: name the ones ' +
      'of this one, or an empty one',
  );

/** Tables of a shard. "chunk_bytes" has what "chunks" has no more. */
const makeTables = `
  create table shard_identity (
    version integer not null,
    shard smallint not null,
    id text not null
  );
  create table chunk_bytes (
    bucket smallint not null,
    series bigint not null,
    id bigint not null,
    points bytea not null,
    summary bytea,
    primary key (bucket, series, id)
  );
  alter table chunk_bytes alter column points set storage external;
  alter table chunk_bytes alter column summary set storage external`;
const version = 1;

/** Processes that start at once take turns in the schema. */
const lock = `
  select pg_advisory_xact_lock(hashtext('kipimo migrations'), hashtext(current_schema()))`;
const findTables = `
  select to_regclass(quote_ident(current_schema()) || '.shard_identity') is not null as mine,
    (select count(*)::integer from pg_tables where schemaname = current_schema()) as tables`;
const findIdentity = 'select version, shard, id from shard_identity';

/**
 * Which shard a database is; an empty one becomes the next one. Throws UnusableStorageError for one
 * that is none of ours.
 */
export async function identify(client: pg.Client, book: ShardBook): Promise<number> {
  await client.query('begin');
  try {
    await client.query(lock);
    const { rows } = await client.query<{ mine: boolean; tables: number }>(findTables);
    const [{ mine, tables } = { mine: false, tables: 0 }] = rows;
    if (!mine) await make(client, tables, book);
    const identity = await identityOf(client);
    await client.query('commit');
    await book.join(identity);
    return identity.shard;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function make(client: pg.Client, tables: number, book: ShardBook): Promise<void> {
  if (tables > 0) {
    throw new UnusableStorageError(
      'a further database in KIPIMO_DATABASE_URL has tables of its own: the first address is of ' +
        'the main database, and the others are of empty ones or shards of it',
    );
  }
  await client.query(makeTables);
  const { shard, id } = await book.reserve();
  await client.query('insert into shard_identity values ($1, $2, $3)', [version, shard, id]);
}

/** The identity that a shard has. Throws UnusableStorageError when it has none that we know. */
export async function identityOf(client: pg.ClientBase): Promise<ShardIdentity> {
  const { rows } = await client.query<ShardIdentity & { version: number }>(findIdentity);
  const [found] = rows;
  if (found === undefined) throw foreign();
  if (found.version > version) {
    throw new UnusableStorageError(
      `a further database in KIPIMO_DATABASE_URL has version ${found.version}, and this kipimo ` +
        `knows ${version}: install the newer kipimo again`,
    );
  }
  return { shard: found.shard, id: found.id };
}
