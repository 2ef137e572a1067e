-- A client may come back elsewhere before the will of its last connection was published: each of its
-- connections has a will of its own, by the turn in which it came, which is of all processes.
alter table mqtt_wills drop constraint mqtt_wills_pkey;
alter table mqtt_wills add primary key (key, turn);
