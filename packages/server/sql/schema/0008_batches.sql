-- Many runs in one request: batches, which create them, and bulk actions, which cancel or replay them. Packets: large payloads and outputs.

-- A batch is opened with the number of its items and then filled, in any order and in any number of requests. When the last item has arrived,
-- the batch is sealed, and only then may its runs start.
--
-- An item's run id follows from the batch and the item's index. Therefore an item that is resent finds its own run, and the runs of a batch
-- are one range of ids, in item order. Until the batch is sealed, its runs are held by the batch and wait nowhere else. Whether a batch has
-- ended is not stored; it follows from its runs.
create table batches (
  env int not null,
  id text collate "C" not null,
  run_count int not null check (run_count between 1 and 1000),
  -- number of items received
  received int not null default 0 check (received between 0 and run_count),
  parent_run_id text collate "C",
  -- the parent waits until the batch has ended
  resume_parent boolean not null default false,
  -- The tasks that the batch was opened for; null if not specified. A caller that finds the batch by its idempotency key must be allowed to use
  -- all of them.
  tasks text[],
  idempotency_key text,
  idempotency_expires_at timestamptz,
  idempotency_key_options jsonb,
  -- key of the request that opened it
  request_key uuid,
  created_at timestamptz not null,
  sealed_at timestamptz,
  -- the batch was never filled, and its runs are canceled
  aborted_at timestamptz,
  primary key (env, id),
  check (sealed_at is null or received = run_count),
  check (sealed_at is null or aborted_at is null),
  check (parent_run_id is not null or not resume_parent)
);
create unique index batches_by_key on batches (env, idempotency_key) where idempotency_key is not null;
create unique index batches_by_request on batches (env, request_key) where request_key is not null;
create index batches_open on batches (created_at) where sealed_at is null and aborted_at is null;
-- For the job that deletes batches whose runs have been deleted.
create index batches_filled on batches (created_at, env, id) where sealed_at is not null or aborted_at is not null;
create index batches_by_parent on batches (env, parent_run_id) where parent_run_id is not null;

-- Items that created no run, because their idempotency key resolved to an existing one. `item_id` is the id that their run would have had.
create table batch_cached (
  env int not null,
  item_id text collate "C" not null,
  run_id text collate "C" not null,
  primary key (env, item_id)
);

-- One request about many runs. The runs are collected first, then each is processed. Progress commits together with the work, so if a
-- process dies in the middle, nothing is repeated or left out.
create table bulk_actions (
  env int not null,
  id text collate "C" not null,
  type text not null check (type in ('CANCEL', 'REPLAY')),
  name text,
  status text not null default 'PENDING' check (status in ('PENDING', 'COMPLETED', 'ABORTED')),
  -- the selected runs, in the filter format of run lists; null if the runs were named, or after all have been collected
  filter jsonb,
  -- collecting continues before this id, newest first, from the time of the request, so runs created by a replay are never included
  cursor text collate "C" not null,
  total int not null default 0,
  success int not null default 0,
  failure int not null default 0,
  created_at timestamptz not null,
  -- the action with the oldest value is continued next
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
  -- null until the run has been processed
  ok boolean,
  -- the run that a replay created
  replay_id text collate "C",
  primary key (env, bulk_id, run_id),
  foreign key (env, bulk_id) references bulk_actions on delete cascade
);
create index bulk_runs_left on bulk_runs (env, bulk_id, run_id) where ok is null;

-- Payloads and outputs that are too large to be stored in their run. The run names the packet and has the type `application/store`.
create table packets (
  id bigint generated always as identity primary key,
  env int not null,
  -- null during the upload
  name text collate "C",
  content_type text not null,
  bytes int not null default 0,
  -- The restricted key or public token that uploaded it; null for an unrestricted key and for outputs. Another restricted caller can neither
  -- replace the packet nor name it in a trigger, unless it may read a run that names it.
  uploaded_by text collate "C",
  created_at timestamptz not null,
  -- when it was uploaded or last named by a run; an unused packet is deleted some time later
  used_at timestamptz not null,
  unique (env, name)
);
create index packets_by_use on packets (used_at);

-- In pieces, so that neither the client nor the server ever holds a whole packet in memory.
create table packet_pieces (
  packet_id bigint not null references packets on delete cascade,
  ix int not null,
  data bytea not null,
  primary key (packet_id, ix)
);
-- The data rarely compresses well and is read only once or twice, so compression is not worthwhile.
alter table packet_pieces alter column data set storage external;
