-- Detects outages of the database, so that no lease expires because it could not be renewed (decision 35).

-- One row. Every server updates it about once a second (`watch_leases`). A pause between two updates is an outage: in it, no server could write,
-- or the database's clock jumped.
create table lease_watch (
  only_row boolean primary key default true check (only_row),
  -- the last update, by the database's clock
  ticked_at timestamptz not null default now(),
  -- when the last outage ended. A runner that has not sent a heartbeat since then has one lease from here.
  resumed_at timestamptz not null default now(),
  -- how long a lease lasts, as the servers are configured. An outage lasts at least a quarter of it.
  lease interval not null default interval '30 seconds'
) with (
  fillfactor = 10,
  autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000000
);
insert into lease_watch default values;
