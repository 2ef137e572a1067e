import type { SqlSession } from '../sql/session.ts';

/** A role that may not see the standbys of a server sees none of their columns. */
const select = `
  select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
    (select count(*) from pg_stat_replication where state = 'streaming'
      and application_name <> 'pg_receivewal' and pid not in (
        select active_pid from pg_replication_slots
        where slot_type = 'logical' and active_pid is not null)) as streaming,
    (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')) as waited`;

/** Finds what lets a server lose acknowledged values, such as `fsync=off`; the worst first. */
export async function findLossySettings(session: SqlSession) {
  const row = await session.first<{
    readonly fsync: string;
    readonly pages: string;
    readonly streaming: number;
    readonly waited: number;
  }>(select);
  if (row === undefined) return [];
  const switchOn = 'Set it to on in the configuration of the server, and restart it.';
  const all = [
    row.fsync === 'off' && {
      setting: 'fsync=off',
      consequence: 'a power cut loses or damages what was acknowledged',
      advice: switchOn,
    },
    row.pages === 'off' && {
      setting: 'full_page_writes=off',
      consequence: 'a power cut can damage pages for good',
      advice: switchOn,
    },
    row.streaming > 0 &&
      row.waited === 0 && {
        setting: 'standbys that no commit waits for',
        consequence: 'one that takes over may lack what was acknowledged',
        advice: "Set synchronous_standby_names, as to 'ANY 1 (one, two)' (docs/scale.md).",
      },
  ];
  return all.filter((one) => one !== false);
}
