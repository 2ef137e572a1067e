-- What each owner has stored, in bytes of quotas, so that a start sums up nothing: 200 for each
-- device, sensor and actuator, their descriptions, and the datapoints of "last_values".
create table owner_bytes (
  owner text primary key collate nocase,
  bytes integer not null
) strict, without rowid;

create view part_bytes (device_id, bytes) as
  select device_id, 200 + octet_length(details) + coalesce(bytes, 0)
  from sensors left join last_values using (series)
  union all
  select device_id, 200 + octet_length(details) from actuators;

insert into owner_bytes (owner, bytes)
select min(owner), sum(bytes) from (
  select owner, 200 + octet_length(details) as bytes from devices
  union all
  select owner, bytes from part_bytes join devices on devices.id = device_id)
group by owner;

create trigger devices_weighed after insert on devices begin
  insert into owner_bytes (owner, bytes) values (new.owner, 200 + octet_length(new.details))
  on conflict (owner) do update set bytes = bytes + excluded.bytes;
end;

create trigger devices_weighed_anew after update of details on devices
when octet_length(old.details) <> octet_length(new.details) begin
  update owner_bytes set bytes = bytes + octet_length(new.details) - octet_length(old.details)
  where owner = old.owner;
end;

create trigger devices_handed_over after update of owner on devices
when old.owner <> new.owner begin
  insert into owner_bytes (owner, bytes)
  select new.owner, 200 + octet_length(new.details) + coalesce(sum(bytes), 0)
  from part_bytes where device_id = new.id
  on conflict (owner) do update set bytes = bytes + excluded.bytes;
  update owner_bytes set bytes = bytes - 200 - octet_length(new.details)
    - (select coalesce(sum(bytes), 0) from part_bytes where device_id = new.id)
  where owner = old.owner;
  delete from owner_bytes where owner = old.owner and bytes = 0;
end;

-- Before, while its parts are there; those go without an owner that could be found.
create trigger devices_unweighed before delete on devices begin
  update owner_bytes set bytes = bytes - 200 - octet_length(old.details)
    - (select coalesce(sum(bytes), 0) from part_bytes where device_id = old.id)
  where owner = old.owner;
  delete from owner_bytes where owner = old.owner and bytes = 0;
end;

create trigger sensors_weighed after insert on sensors begin
  update owner_bytes set bytes = bytes + 200 + octet_length(new.details)
  where owner = (select owner from devices where id = new.device_id);
end;

create trigger sensors_weighed_anew after update of details on sensors
when octet_length(old.details) <> octet_length(new.details) begin
  update owner_bytes set bytes = bytes + octet_length(new.details) - octet_length(old.details)
  where owner = (select owner from devices where id = new.device_id);
end;

create trigger sensors_unweighed before delete on sensors begin
  update owner_bytes set bytes = bytes - 200 - octet_length(old.details)
    - coalesce((select bytes from last_values where series = old.series), 0)
  where owner = (select owner from devices where id = old.device_id);
end;

create trigger actuators_weighed after insert on actuators begin
  update owner_bytes set bytes = bytes + 200 + octet_length(new.details)
  where owner = (select owner from devices where id = new.device_id);
end;

create trigger actuators_weighed_anew after update of details on actuators
when octet_length(old.details) <> octet_length(new.details) begin
  update owner_bytes set bytes = bytes + octet_length(new.details) - octet_length(old.details)
  where owner = (select owner from devices where id = new.device_id);
end;

create trigger actuators_unweighed before delete on actuators begin
  update owner_bytes set bytes = bytes - 200 - octet_length(old.details)
  where owner = (select owner from devices where id = old.device_id);
end;

create trigger datapoints_weighed after insert on last_values when new.bytes <> 0 begin
  update owner_bytes set bytes = bytes + new.bytes
  where owner = (select owner from sensors join devices on devices.id = device_id
    where series = new.series);
end;

create trigger datapoints_weighed_anew after update of bytes on last_values
when old.bytes <> new.bytes begin
  update owner_bytes set bytes = bytes + new.bytes - old.bytes
  where owner = (select owner from sensors join devices on devices.id = device_id
    where series = new.series);
end;

create index devices_of_strangers on devices (owner, stranger_bytes) where stranger_bytes > 0;

-- When a datapoint was received last, which each start asks for.
create index last_values_by_receipt on last_values (received_at);
