-- A push that is late is held against what is stored at its time: the rows of its sensor that are of
-- other times are told apart in the index, however many of them there are.
alter table hot drop constraint hot_pkey;
alter table hot add primary key (bucket, series, min_time, max_time, ordinal);
