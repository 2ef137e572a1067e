import type { Share, ShareOutcome, ShareStep } from '../../domain/messaging/session-store.ts';
import type { SqlSession } from '../sql/session.ts';
import { lastPlace } from './own-tables.ts';
import { indexKey } from './text.ts';

const serving = `select member from members where state = 'serving'`;
/**
 * Everything is in the order of commits: of two processes that ask, the second sees the first. A
 * claim that is asked for again is never made anew: its row may be dropped at this moment.
 */
const claim = `
  with asked as (
    select * from unnest($2::text[], $3::text[], $4::bigint[], $5::boolean[], $6::boolean[],
      $7::boolean[]) with ordinality
      as given (share_group, message, token, here, settled, again, number)),
  known as materialized (
    select share_group, message, owner <> $1 or mqtt_shares.token <> asked.token as other
    from asked join mqtt_shares using (share_group, message)),
  made as (
    insert into mqtt_shares (share_group, message, owner, token, settled, place)
    select share_group, message, $1, token, settled, ${lastPlace} from asked
    where not again and (here or not exists (
      select from mqtt_groups_here as there
      where there.share_group = asked.share_group and owner <> $1 and owner in (${serving})))
    on conflict (share_group, message) do update set
      owner = excluded.owner, token = excluded.token, settled = excluded.settled
    where (mqtt_shares.owner = excluded.owner and mqtt_shares.token = excluded.token)
      or (not mqtt_shares.settled and mqtt_shares.owner not in (${serving}))
    returning share_group, message),
  made_again as (
    update mqtt_shares set owner = $1, token = asked.token, settled = asked.settled from asked
    where again and (mqtt_shares.share_group, mqtt_shares.message)
        = (asked.share_group, asked.message)
      and ((owner = $1 and mqtt_shares.token = asked.token)
        or (not mqtt_shares.settled and owner not in (${serving})))
    returning mqtt_shares.share_group, mqtt_shares.message),
  won as (select * from made union all select * from made_again)
  select won.message is not null as won, known.message is not null or again as taken, other
  from asked left join won using (share_group, message) left join known using (share_group, message)
  order by number`;
const settle = `
  update mqtt_shares set settled = true
  from unnest($2::text[], $3::text[]) as given (share_group, message)
  where mqtt_shares.share_group = given.share_group and mqtt_shares.message = given.message
    and owner = $1`;
/** Leaves the claim without an owner. */
const giveBack = settle.replace('settled = true', 'owner = 0');
const addHere = `
  insert into mqtt_groups_here (share_group, owner) select unnest($2::text[]), $1
  on conflict do nothing`;
const removeHere = `
  delete from mqtt_groups_here where owner = $1 and share_group = any($2::text[])`;
/**
 * Drops claims whose log entries were gone at the tidying before: a process that had read these
 * entries for a session that moved has made its claims since.
 */
export const dropShares = `
  delete from mqtt_shares where place < $1
    and place < coalesce((select min(place) from feed_log), $1 + 1)`;
export const dropHereOfEnded = `delete from mqtt_groups_here where owner not in (${serving})`;

const groupsOf = (shares: readonly Share[]): readonly string[] =>
  shares.map(({ group }) => indexKey(group));
const messagesOf = (shares: readonly Share[]): readonly string[] =>
  shares.map(({ message }) => indexKey(message));

const changing =
  (sql: string) =>
  async (tx: SqlSession, own: number, shares: readonly Share[]): Promise<void> => {
    if (shares.length > 0) await tx.run(sql, own, groupsOf(shares), messagesOf(shares));
  };
/** Settles claims: no member gets their messages again if the process ends. */
export const settleShares = changing(settle);
/** Another process may claim them again. */
export const giveSharesBack = changing(giveBack);

/** Makes the changes, and answers what became of each claim, in their order. */
export async function applyShares(
  tx: SqlSession,
  own: number,
  { claims, settled, givenBack, here }: ShareStep,
): Promise<readonly ShareOutcome[]> {
  const groups = [...here];
  const wanted = (isHere: boolean) =>
    groups.filter(([, one]) => one === isHere).map(([group]) => indexKey(group));
  if (groups.length > 0) {
    await tx.run(addHere, own, wanted(true));
    await tx.run(removeHere, own, wanted(false));
  }
  await settleShares(tx, own, settled);
  await giveSharesBack(tx, own, givenBack);
  if (claims.length === 0) return [];
  const rows = await tx.all<{ won: boolean; taken: boolean; other: boolean | null }>(
    ...[claim, own, groupsOf(claims), messagesOf(claims)],
    claims.map(({ token }) => token),
    claims.map(({ isHere }) => isHere),
    claims.map(({ isSettled }) => isSettled),
    claims.map(({ isAgain }) => isAgain),
  );
  return rows.map(({ won, taken, other }) => {
    if (won) return other === true ? 'won_again' : 'won';
    return taken ? 'taken' : 'left';
  });
}
