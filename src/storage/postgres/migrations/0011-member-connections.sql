-- The server process behind the connection on which a member beats: gone as soon as it is killed.
alter table members add column backend integer;
