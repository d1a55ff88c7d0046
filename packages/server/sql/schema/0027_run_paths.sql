-- Paths of metadata and payloads by which runs are listed. Where an environment has declared none, nothing of this is written.

create table run_paths (
  id int generated always as identity primary key,
  env int not null references environments on delete cascade,
  -- metadata.customer.id or payload.order
  path text collate "C" not null check (path ~ '^(metadata|payload)\.' and length(path) <= 256),
  created_at timestamptz not null,
  -- Runs that existed before are indexed from the newest to the oldest: all with an id from here on are done. Null before it begins.
  backfilled_from text collate "C",
  backfilled_at timestamptz,
  unique (env, path)
);
create index run_paths_pending on run_paths (created_at) where backfilled_at is null;

alter table runs
  -- The facets `p:<id of a path>:<value>` of the run, as `run_facets` has them. Null where its environment has declared no path.
  add column path_facets text[];
