-- Webhooks: addresses at which other services start runs with signed requests (decision 37).

-- The address of each webhook that a version of the environment has declared. It is never changed or removed, because other services store it.
create table webhooks (
  env int not null,
  -- the id of the webhook, and of the task that runs for its requests
  id text collate "C" not null,
  address text collate "C" not null unique,
  -- rejected requests, of which nothing else is stored
  rejected bigint not null default 0,
  last_rejection text,
  last_rejected_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (env, id)
) with (fillfactor = 70);

-- Accepted requests. Inserting the row decides which of several requests with one id is the first.
create table webhook_deliveries (
  env int not null,
  webhook text collate "C" not null,
  -- the sender's id of the request; a digest of the signed content for a sender without ids; the row's own id for a webhook without both
  sender_id text collate "C" not null check (length(sender_id) between 1 and 255),
  id text collate "C" not null,
  -- JSON text of the headers, with names in lower case and without credentials
  headers text not null,
  -- the body as it was received
  body bytea not null,
  -- the run that it started, and those of its replays
  run_ids text[] not null,
  created_at timestamptz not null,
  primary key (env, webhook, sender_id)
) with (fillfactor = 90);
create unique index webhook_deliveries_by_id on webhook_deliveries (env, id);
create index webhook_deliveries_by_time on webhook_deliveries (env, created_at);
