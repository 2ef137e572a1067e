-- Log rows that could not be read at a start, kept for whoever can mend them.
create table damaged_log_rows (
  seq integer primary key,
  reason text not null,
  pushes blob not null
) strict;
