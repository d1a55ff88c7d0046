-- The runs of a batch in item order, including existing runs that an idempotency key resolved to.
--
-- Locks: none.
-- Callers: batches/open.ts, batches/retrieve.ts, realtime/subject.ts.
create or replace function batch_runs(p_env int, p_batch text) returns table (run_id text, cached boolean)
language sql stable as $$
  select x.run_id, x.cached
    from (
      select r.id as item_id, r.id as run_id, false as cached from runs r
       where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~'
      union all
      select c.item_id, c.run_id, true from batch_cached c
       where c.env = p_env and c.item_id >= batch_prefix(p_batch) and c.item_id < batch_prefix(p_batch) || '~'
    ) x order by x.item_id
$$;
