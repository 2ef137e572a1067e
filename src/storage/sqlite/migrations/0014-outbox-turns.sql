-- Deliveries are handed out in turn by who pays for them.
create index deliveries_by_turn on deliveries (payer, channel, due_at, position)
  where status = 'pending';

-- The random part of a delivery's id: positions start again in every database, and receivers drop
-- what they have seen.
alter table deliveries add column token text not null default '';
update deliveries set token = lower(hex(randomblob(16)));

-- Messages of paid channels that were tried on a day (days since 1970, UTC), by who pays.
create table paid_messages (
  day integer not null,
  payer text not null collate nocase,
  channel text not null,
  count integer not null,
  primary key (day, payer, channel)
) strict, without rowid;
