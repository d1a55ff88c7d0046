-- One request about many runs. First the runs are gathered, then each is acted on; what was done and where it stands commit together,
-- so a process that dies in the middle has done nothing twice and left nothing out.
create table bulk_actions (
  env int not null,
  id text collate "C" not null,
  type text not null check (type in ('CANCEL', 'REPLAY')),
  name text,
  status text not null default 'PENDING' check (status in ('PENDING', 'COMPLETED', 'ABORTED')),
  -- which runs, as the list of runs reads it; null when they were named, or all are gathered
  filter jsonb,
  -- gathering goes on before this id: newest first, from the moment of the request, so that what a replay makes is never in it
  place text collate "C" not null,
  total int not null default 0,
  success int not null default 0,
  failure int not null default 0,
  created_at timestamptz not null,
  -- who was worked on longest ago goes next
  worked_at timestamptz not null,
  completed_at timestamptz,
  primary key (env, id),
  check ((status = 'PENDING') = (completed_at is null))
);
create index bulk_actions_pending on bulk_actions (worked_at) where status = 'PENDING';
create index bulk_actions_over on bulk_actions (completed_at) where completed_at is not null;

create table bulk_runs (
  env int not null,
  bulk_id text collate "C" not null,
  run_id text collate "C" not null,
  -- null until it was acted on
  ok boolean,
  -- the run that a replay made
  made text collate "C",
  primary key (env, bulk_id, run_id),
  foreign key (env, bulk_id) references bulk_actions on delete cascade
);
create index bulk_runs_left on bulk_runs (env, bulk_id, run_id) where ok is null;

-- The run that it is a replay of.
alter table runs add column replay_of text;
