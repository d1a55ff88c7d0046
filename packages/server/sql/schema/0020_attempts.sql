-- The attempts of runs that did not end them, and what is needed to tell all others.
--
-- The attempt that ends a run has no row here: its run says how and when it ended, so a run that succeeds at once costs no row. What the run
-- did not have is in two columns of it, written by the update that ends it.

create table attempts (
  env int not null,
  run_id text collate "C" not null,
  -- of its lease, so the rows of a run are in the order in which its attempts started
  fence bigint not null,
  -- The number of the attempt. The next one has the same number unless this one failed: the others count as no attempt.
  number int not null,
  -- FAILED: its code failed, and the run was to try again at `due`; LOST: its runner was lost; GIVEN_BACK: its runner stopped and gave it back;
  -- DETACHED: the process that had its code ended while it waited
  outcome text not null check (outcome in ('FAILED', 'LOST', 'GIVEN_BACK', 'DETACHED')),
  started_at timestamptz not null,
  ended_at timestamptz not null,
  -- waits not included
  active_ms bigint not null,
  runner_no int,
  version_id int,
  env_revision int,
  -- name, message and stack, shortened
  error jsonb,
  error_fingerprint_id int,
  due timestamptz,
  primary key (env, run_id, fence),
  check ((outcome = 'FAILED') = (due is not null))
);

-- Every runner that ever connected, in a narrow row, as long as there may be a run that it had an attempt of.
create table runner_names (
  no int generated always as identity primary key,
  env int not null,
  runner_id text collate "C" not null,
  host text not null,
  pid int not null,
  -- it was connected then, give or take an hour
  last_seen_at timestamptz not null,
  unique (env, runner_id)
);

alter table runners add column no int;

-- Null for the runner of a server of the release before, which gave it no name.
alter table leases add column runner_no int;
alter table suspended add column runner_no int;

alter table runs
  -- When the present attempt, or the one that ended the run, began, if it has waited in its code; null if it never did: it has run since then.
  add column last_started_at timestamptz,
  -- the runner of the attempt that ended the run, 0 for one without a name; null if it ended without an attempt
  add column last_runner_no int;
