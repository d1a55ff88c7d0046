-- The prefix of the ids of a batch's runs. The item index follows, as three base-36 digits.
--
-- Locks: none.
-- Callers: batches/abort.ts, batches/fill.ts, batches/forget.ts, batches/list.ts, batches/oversized.ts, versions/deployments/live-runs.ts,
--          runs/cancel/cancel-live.ts, runs/list/sources.ts, batch_runs, is_batch_over, seal_batch, watch_batch.
create or replace function batch_prefix(p_batch text) returns text language sql immutable as
$$ select ('run_' || substr(p_batch, 7, 21)) collate "C" $$;
