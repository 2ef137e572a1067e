-- What administrators set while the service runs, by its name; the configuration has the defaults.
create table installation_settings (
  name text primary key,
  value text not null
) strict, without rowid;
