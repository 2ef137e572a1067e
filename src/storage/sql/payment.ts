import type { DailyMax, Payment } from '../../domain/notifications/outbox-store.ts';
import type { SqlSession } from './session.ts';

const dayMs = 86_400_000;
const isPayer = 'nocase(username) = nocase($1)';
const takeCredit = `
  update users set sms_credit = sms_credit - 1 where ${isPayer} and sms_credit >= 1`;
const isUnlimited = `select 1 as yes from users where ${isPayer} and sms_credit is null`;
const selectOfDay = `
  select coalesce(sum(count) filter (where nocase(payer) = nocase($2) and channel = $3), 0) as own,
    coalesce(sum(count), 0) as total
  from paid_messages where day = $1`;
const countMessage = `
  insert into paid_messages (day, payer, channel, count) values ($1, $2, $3, 1)
  on conflict (day, nocase(payer), channel) do update set count = paid_messages.count + 1`;
const deleteEarlierDays = 'delete from paid_messages where day < $1';

/** Numbers of messages of a day: those of the payer on the channel, and all. */
interface OfDay {
  readonly own: number;
  readonly total: number;
}

/** Takes one message from the payer's credit and from the day. */
export async function payForMessage(
  session: SqlSession,
  payer: string,
  channel: string,
  at: number,
  perDay?: DailyMax,
): Promise<Payment> {
  const day = Math.floor(at / dayMs);
  if (perDay !== undefined) {
    const ofDay = await session.first<OfDay>(selectOfDay, day, payer, channel);
    const { own = 0, total = 0 } = ofDay ?? {};
    if (own >= perDay.each) return 'own_day_full';
    if (total >= perDay.all) return 'day_full';
  }
  const isPaid =
    (await session.run(takeCredit, payer)) > 0 ||
    (await session.first(isUnlimited, payer)) !== undefined;
  if (!isPaid) return 'no_credit';
  await session.run(countMessage, day, payer, channel);
  await session.run(deleteEarlierDays, day - 1);
  return 'paid';
}
