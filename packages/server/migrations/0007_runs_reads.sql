-- What lists of runs are found by. A list is in the order of the runs' ids, which is that of their creation.
--
-- An index of `runs` for each thing one can filter by would cost every trigger a third of its time, and one on what changes
-- (status, version) would make every completion rewrite all of them. Instead, `run_facets` says in which spans of ids there are
-- runs with some value: a row the first time a value turns up in a span, nothing more for all others like it. Whoever lists
-- walks those spans and looks at their runs, so a value that is rare costs a row a run, and one that is everywhere next to nothing.
--
-- A span is the first ten characters of an id: `run_` and all but the last two of the time, 1.3 seconds. A row without such a run
-- does no harm; a run without its row would be missed, so rows are written with what they tell, in the same statement or before.
--
--   o:<task>           a run of the task in its own queue, task/<task>
--   t:<task>           a run of the task in another queue
--   q:<queue id>       a run in a queue that is not its task's own
--   v:<version id>     a run that is bound to the version
--   g:<tag>  m:<machine>  r:<region>  c:<schedule>  d (a test)
--   s:<status>         a run that ended so
--   e:<status>:<task>  the same, of one task; not for COMPLETED
--   x:<fingerprint>    a run that failed with the fingerprint (its id); written when its error is tallied (0003)
create table run_facets (
  env int not null,
  facet text collate "C" not null,
  span text collate "C" not null check (length(span) = 10),
  primary key (env, facet, span)
);

-- Runs that wait, in the order of lists; leases are in it anyway, and `queued` is too busy for an index that only lists need.
create index parked_by_run on parked (env, run_id);
-- Between two attempts, not before the first one: such a run is EXECUTING, not DELAYED.
alter table delayed add column retry boolean not null default false;
create index delayed_by_run on delayed (env, retry, run_id);

-- The metadata that a run was triggered with, once it has changed: what a replay begins with.
alter table runs add column seed_metadata text;

-- Versions that a connected runner can execute, for whoever asks why a run waits.
alter table runners add column versions int[] not null default '{}';

alter table queues add column overridden_at timestamptz;

-- How long finished runs are kept, in days; null is what the server is set to.
alter table environments add column run_retention_days int check (run_retention_days >= 1);

alter table run_facets set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);
