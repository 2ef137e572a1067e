-- All chunks are in this database again (decision 0040). One whose bytes are in another one cannot be
-- read without it: nothing is changed then.
do $$
begin
  if exists (select from shards where has_joined)
    and exists (select from chunks where sent_bytes is not null)
  then
    raise exception 'datapoints are in further databases, which this kipimo does not read: bring them '
      'home with the version that you had (0.1.0, the last one is commit 6329f22a), with all '
      'addresses in KIPIMO_DATABASE_URL: kipimo move --to DIRECTORY, or to an empty database '
      '(docs/scale.md)';
  end if;
end $$;

-- Their tables and columns stay for a release: processes of the version before name them.
