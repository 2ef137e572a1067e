-- The process of the will is publishing it: another one takes it only when that has ended.
alter table mqtt_wills add column is_begun boolean not null default false;
