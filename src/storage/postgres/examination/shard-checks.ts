import type { Findings } from '../../examination/finding.ts';
import type { SqlSession } from '../../sql/session.ts';
import type { ShardReading } from '../shards/shard-reading.ts';

const countSent = `
  select count(*) as n from chunks where shard = $1 and sent_bytes is not null`;
const countLeft = 'select count(*) as n from shard_leavings where shard = $1';
const countThere = 'select count(*) as n from chunk_bytes';

/** Whether every shard is there, and has nothing that nobody knows of. */
export async function checkShards(
  session: SqlSession,
  { findings, sent }: { readonly findings: Findings; readonly sent: ShardReading },
): Promise<void> {
  const count = async (where: SqlSession, sql: string, ...values: readonly number[]) =>
    (await where.first<{ n: number }>(sql, ...values))?.n ?? 0;
  for (const shard of sent.missing) {
    findings.add({
      level: 'damage',
      check: 'shards',
      sentence:
        `Shard ${shard} cannot be reached: ${await count(session, countSent, shard)} chunks ` +
        'were not looked at, and nobody can read them.',
      remedy: 'Start that database, or name its address in KIPIMO_DATABASE_URL.',
    });
  }
  for (const [shard, there] of sent.shards) {
    // What goes meanwhile is left until tomorrow; what comes is there before it is counted here.
    const known =
      (await count(session, countSent, shard)) + (await count(session, countLeft, shard));
    const found = await count(there, countThere);
    const beside = found - known;
    // Of one step of a service that was killed, perhaps.
    if (beside <= chunksOfStep) continue;
    findings.add({
      level: 'note',
      check: 'shards',
      sentence: `Shard ${shard} has ${beside} chunks that belong to no sensor.`,
      remedy: 'Nothing needs to be done: they take room alone.',
    });
  }
}

/** About as many as a service sends in one commit. */
const chunksOfStep = 1_000;
