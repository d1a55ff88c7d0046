-- Steps of runs (docs/steps.md). A row is the result of one step, stored once, by the attempt that executed it. A step that failed has a row,
-- too, which the result of a later attempt replaces. A run without steps has no row here.

create table run_steps (
  env int not null,
  run_id text collate "C" not null,
  -- with its index where a name occurs more than once: `charge#2`
  name text collate "C" not null check (length(name) between 1 and 208),
  kind text not null check (kind in ('RUN', 'SLEEP', 'EVENT', 'TRIGGER', 'TRIGGER_AND_WAIT')),
  status text not null check (status in ('COMPLETED', 'FAILED')),
  -- its place among the steps of the run, by their ends
  seq int not null check (seq between 1 and 10000),
  attempt int not null,
  version_id int,
  tries int not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  detail text,
  -- as people see it: secrets are replaced
  output text,
  output_type text,
  -- as code reads it, where that is something else; encrypted with the master key in the context `run_steps:<sealed_id>`
  sealed bytea,
  sealed_id text,
  error jsonb,
  -- the run that it was copied from, by a replay from a later step
  taken_from text collate "C",
  primary key (env, run_id, name),
  check ((error is null) = (status = 'COMPLETED')),
  check ((sealed is null) = (sealed_id is null))
);
create index run_steps_in_order on run_steps (env, run_id, seq, name);
create index run_steps_by_packet on run_steps (env, output) where output_type = 'application/store';

-- Tokens that an event completes: the first one of this name whose payload fits the filter. A row is gone when its token is over, at the latest
-- when an event of that name is delivered or the token is pruned.
create table event_waits (
  env int not null,
  name text collate "C" not null,
  waitpoint_id text collate "C" not null,
  -- JSON text
  filter text,
  primary key (env, name, waitpoint_id)
);
create unique index event_waits_by_token on event_waits (waitpoint_id);
