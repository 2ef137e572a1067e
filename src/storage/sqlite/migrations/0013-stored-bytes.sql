-- What the datapoints of a series count towards the quota of their owner. Those of before this
-- column count as numbers: what they really took is not known without decoding them.
alter table last_values add column bytes integer not null default 0;

update last_values set bytes = 32 * sealed;
