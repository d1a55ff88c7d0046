-- The clock for rate limits: the database's, so that all servers agree. A claim reads it under the claim lock.
--
-- Locks: none.
-- Callers: queues/find.ts, runs/dispatch/promoter.ts, runs/dispatch/start-pruner.ts, app/row-pruners.ts, runs/reason/start-conditions.ts,
--          claim_scope, count_starts, rate_limit_lanes, limit_triggers, release_rate_limited.
create or replace function rate_now() returns timestamptz language sql volatile as
$$ select clock_timestamp() $$;
