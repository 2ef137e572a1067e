-- The member that tries a delivery; null: nobody does. What a member that ended had claimed is due
-- again at once.
alter table deliveries add column claimed_by integer;

create index deliveries_claimed on deliveries (claimed_by) where claimed_by is not null;
