import { ownEntry } from '../../../src/lib/own-entry.ts';
import { type Count, countRows, type SqlSession } from '../../../src/storage/sql/session.ts';
import type { MoveSource } from './move.ts';
import type { MovedRow } from './tables.ts';

/** A table as an engine has it, where it is not as `movedTables` says. */
export interface OwnTable {
  readonly from?: string;
  /** Expressions for columns that are named otherwise. */
  readonly select?: Readonly<Record<string, string>>;
  /** Columns of the order of its rows, by default `position`; a unique index has them. */
  readonly order?: readonly string[];
}

const orders: Readonly<Record<string, readonly string[]>> = {
  installation_settings: ['name'],
  login_sessions: ['id'],
  login_networks: ['user_id', 'network'],
  password_resets: ['user_id', 'code_hash'],
  failures: ['limiter', 'key'],
  call_texts: ['call_id'],
  grants: ['kind', 'resource', 'nocase(username)'],
  group_members: ['nocase(username)', 'group_id'],
  invitation_uses: ['invitation', 'user_id'],
  group_grants: ['group_id', 'kind', 'resource'],
  project_members: ['project', 'kind', 'resource'],
  notification_states: ['notification', 'device_id'],
  paid_messages: ['day', 'nocase(payer)', 'channel'],
  mqtt_sessions: ['session'],
  mqtt_messages: ['message'],
  mqtt_received: ['session', 'packet_id'],
};

const sumChunks = 'select coalesce(sum(count), 0) as n from chunks';

/** Whether the rows of a table are in the order of `position`, for want of another. */
export const isByPosition = (name: string, own: OwnTable = {}): boolean =>
  own.order === undefined && ownEntry(orders, name) === undefined;

/** Reads tables that are moved, page by page, in an order that indexes have. */
export function createMovedPages(
  session: SqlSession,
  ownTables: ReadonlyMap<string, OwnTable>,
): Pick<MoveSource, 'count' | 'page' | 'datapoints'> {
  return {
    datapoints: async () => (await session.first<Count>(sumChunks))?.n ?? 0,
    count: ({ name }) => countRows(session, ownTables.get(name)?.from ?? name),
    async page({ name, columns, pageRows }, after) {
      const { from = name, select = {}, order: own } = ownTables.get(name) ?? {};
      const order = own ?? ownEntry(orders, name) ?? ['position'];
      const wanted = columns.map(
        (column) => `${ownEntry(select, column) ?? `"${column}"`} as "${column}"`,
      );
      const keys = order.map((expression, at) => `${expression} as "key ${at}"`);
      const places = order.map((_, at) => `$${at + 1}`).join(', ');
      const rows = await session.all<MovedRow>(
        `select ${[...wanted, ...keys].join(', ')} from ${from}
         ${after === undefined ? '' : `where (${order.join(', ')}) > (${places})`}
         order by ${order.join(', ')} limit ${pageRows}`,
        ...(after ?? []),
      );
      const last = rows.at(-1);
      const next = order.map((_, at) => last?.[`key ${at}`] as string | number);
      return { rows, next: rows.length < pageRows ? undefined : next };
    },
  };
}
