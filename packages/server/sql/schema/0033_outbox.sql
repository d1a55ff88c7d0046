-- Rows of outboxes that were delivered. Whoever delivers a row may die before it has deleted it: the row that comes again then leads to the
-- run that is there. Also finds the run of a row that an idempotency key or a debounce led to another run.
create table outbox_receipts (
  env int not null,
  -- of the row, which is the id of its run unless that was another one
  id text collate "C" not null,
  run_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (env, id)
);
create index outbox_receipts_by_age on outbox_receipts (created_at);
