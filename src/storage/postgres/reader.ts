import pg from 'pg';
import { isGuestPayer, isPayer } from '../../domain/budgets/budget.ts';
import type { Log } from '../../lib/log.ts';
import { currentPayer, keepPayers } from '../../lib/paid-work.ts';
import { createFairQueue, type QueuePlace } from '../../lib/scheduling/fair-queue.ts';
import { TooManyWaitingError } from '../../lib/scheduling/payer-queues.ts';
import type { SqlSession, Value } from '../sql/session.ts';
import { sessionOn } from './connection.ts';
import { asRefusal, isConnectionLost, isFull, unavailable } from './failures.ts';
import { clientConfig } from './opening.ts';
import { postgresLimits } from './postgres-limits.ts';
import { clientClass } from './primary.ts';

/**
 * Reads over a few connections, in fair queues: those of the service itself, of accounts, and of
 * guests, who have half of the connections at most, so that no other read waits behind them. Throws
 * DomainError unavailable when the database is away or too many reads wait.
 */
export interface Reader extends SqlSession {
  /** Runs several reads so that they see the same commit. */
  inSnapshot<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer>;
  /** How many are open. */
  connections(): number;
  close(): Promise<void>;
}

/** Opens connections as they are needed. */
export function createReader(url: string, log: Log): Reader {
  keepPayers();
  const pool = new pg.Pool({
    ...clientConfig(url, 'reads'),
    Client: clientClass(url),
    max: postgresLimits.readConnectionsMax,
    idleTimeoutMillis: 60_000,
  });
  // An idle connection that was lost: the next read makes a new one.
  pool.on('error', (error) => log.warn({ err: error }, 'a connection to the database was lost'));
  pool.on('connect', (client) => client.on('error', () => undefined));
  const connect = createConnecting(pool, log);
  const queue = createFairQueue<ReadLane>({
    lanes: ['service', 'accounts', 'guests'],
    parallelMax: postgresLimits.readConnectionsMax,
    waitingMax: postgresLimits.readsWaitingMax,
    ofLane: {
      service: { shareMax: postgresLimits.readsWaitingMax },
      guests: { parallelMax: postgresLimits.guestReadConnectionsMax },
    },
  });

  async function withClient<Answer>(work: (client: pg.PoolClient) => Promise<Answer>) {
    try {
      return await queue.run(placeOf(currentPayer()), () => withConnection(work));
    } catch (error) {
      if (!(error instanceof TooManyWaitingError)) throw error;
      throw unavailable('too many reads wait for the database: try again', error);
    }
  }

  async function withConnection<Answer>(work: (client: pg.PoolClient) => Promise<Answer>) {
    let client: pg.PoolClient | undefined;
    try {
      client = await connect();
      const answer = await work(client);
      client.release();
      return answer;
    } catch (error) {
      // A connection whose statement never came back is of no use either.
      client?.release(isConnectionLost(error));
      throw asRefusal(error);
    }
  }

  /** A connection that idled may be dead already: a read that fails so is tried once more. */
  async function safely<Answer>(work: (client: pg.PoolClient) => Promise<Answer>) {
    try {
      return await withClient(work);
    } catch (error) {
      if (!(error instanceof Error) || !isConnectionLost(error.cause)) throw error;
      return withClient(work);
    }
  }

  return {
    all: <Row>(sql: string, ...values: readonly Value[]) =>
      safely((client) => sessionOn(client).all<Row>(sql, ...values)),
    first: <Row>(sql: string, ...values: readonly Value[]) =>
      safely((client) => sessionOn(client).first<Row>(sql, ...values)),
    run: (sql, ...values) => safely((client) => sessionOn(client).run(sql, ...values)),
    inSnapshot: (work) =>
      safely(async (client) => {
        await client.query('begin isolation level repeatable read read only');
        try {
          return await work(sessionOn(client));
        } finally {
          await client.query('commit');
        }
      }),
    connections: () => pool.totalCount,
    close: () => pool.end(),
  };
}

type ReadLane = 'service' | 'accounts' | 'guests';

function placeOf(payer = ''): QueuePlace<ReadLane> {
  if (!isPayer(payer)) return { lane: 'service', payer };
  return { lane: isGuestPayer(payer) ? 'guests' : 'accounts', payer };
}

/** Takes a connection; where the server has no capacity for more, waits for one that is there. */
function createConnecting(pool: pg.Pool, log: Log): () => Promise<pg.PoolClient> {
  let open = 0;
  let again: NodeJS.Timeout | undefined;
  pool.on('connect', () => {
    open += 1;
  });
  pool.on('remove', () => {
    open -= 1;
  });

  function makeDo(error: unknown): void {
    pool.options.max = open;
    if (again !== undefined) return;
    log.warn({ err: error, open }, 'the database has no room for more connections: reads wait');
    again = setTimeout(() => {
      again = undefined;
      pool.options.max = postgresLimits.readConnectionsMax;
    }, postgresLimits.moreConnectionsMs).unref();
  }

  return async () => {
    for (;;) {
      try {
        return await pool.connect();
      } catch (error) {
        if (!isFull(error) || open === 0) throw error;
        makeDo(error);
      }
    }
  };
}
