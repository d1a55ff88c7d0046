-- What the ids of a batch's runs begin with. The index of the item follows, three digits to the base 36.
--
-- Locks: none.
-- Callers: batches/abort.ts, batches/fill.ts, batches/forget.ts, batches/list.ts, batches/oversized.ts, versions/deployments/live-runs.ts,
--          runs/cancel/cancel-live.ts, runs/list/sources.ts, batch_runs, is_batch_over, seal_batch, watch_batch.
create or replace function batch_prefix(p_batch text) returns text language sql immutable as
$$ select ('run_' || substr(p_batch, 7, 21)) collate "C" $$;
