-- Whether commits of the member lock the rows of the sensors that they change: a version that does
-- not know the column does not, and can join no more.
alter table members add column locks_rows boolean not null default false;
alter table members alter column locks_rows drop default;

-- Up to where the log was committed when the subscription came, by writer: JSON. What a writer
-- committed behind that is for it. Empty: "since" says it of all writers.
alter table mqtt_subscriptions add column places text not null default '';
