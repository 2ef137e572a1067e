import pg from 'pg';
import { forPostgres, type SqlSession, type Value } from '../sql/session.ts';
import { escapeText, unescapeText } from './text.ts';

const int8 = 20;
const text = 25;
const numeric = 1700;
const defaultParser = pg.types.getTypeParser;

/** Numbers are numbers, whatever their width, and texts are as they were given. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (oid === int8 || oid === numeric) return Number;
    if (oid === text) return unescapeText;
    return defaultParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

/** A statement as PostgreSQL reads it, with the name under which connections prepare it once. */
interface Statement {
  readonly text: string;
  readonly name?: string;
}

/** There are few texts of statements. */
const statements = new Map<string, Statement>();
const statementsMax = 1_000;

function statementOf(sql: string): Statement {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const text = forPostgres(sql);
  if (statements.size >= statementsMax) return { text };
  const statement = { text, name: `s${statements.size}` };
  statements.set(sql, statement);
  return statement;
}

/** A session on this connection. */
export function sessionOn(client: Pick<pg.ClientBase | pg.Pool, 'query'>): SqlSession {
  async function query(sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
    return client.query({ ...statementOf(sql), values: values.map(bound) });
  }
  return {
    // The statement names exactly the columns that Row has.
    all: async <Row>(sql: string, ...values: readonly Value[]) =>
      (await query(sql, values)).rows as Row[],
    first: async <Row>(sql: string, ...values: readonly Value[]) =>
      (await query(sql, values)).rows[0] as Row | undefined,
    run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
  };
}

/** Runs work in a transaction of its own. */
export async function inTransaction<Answer>(
  client: pg.Client,
  work: () => Promise<Answer>,
): Promise<Answer> {
  await client.query('begin');
  try {
    const answer = await work();
    await client.query('commit');
    return answer;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Statements that no caller waits for before the end of their transaction. */
export interface Sender {
  /** Runs a statement behind those before; answers at once. */
  send(sql: string, ...values: readonly Value[]): void;
  /** Rejects with what the first of them failed with that did; waits for all of them otherwise. */
  arrived(): Promise<unknown>;
}

/** Sends on the connection of this session, behind what it was asked before. */
export function createSender(session: SqlSession): Sender {
  const sent: Promise<unknown>[] = [];
  return {
    send(sql, ...values) {
      const running = session.run(sql, ...values);
      // `arrived` throws it.
      running.catch(() => undefined);
      sent.push(running);
    },
    arrived: () => Promise.all(sent),
  };
}

function bound(value: Value): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return boundArray(value);
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return value;
}

/** Arrays of numbers and of true and false as PostgreSQL writes them: nothing in them is quoted. */
function boundArray(elements: readonly unknown[]): unknown {
  if (elements.some((element) => typeof element === 'string')) return elements.map(boundElement);
  return `{${elements.map((element) => element ?? 'NULL').join(',')}}`;
}

const boundElement = (element: unknown): unknown =>
  typeof element === 'string' ? escapeText(element) : element;
