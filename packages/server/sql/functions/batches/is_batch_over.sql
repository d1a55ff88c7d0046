-- Whether all runs of a sealed batch have ended. A run deleted after its retention counts as ended.
--
-- Locks: none.
-- Callers: batches/forget.ts.
create or replace function is_batch_over(p_env int, p_batch text) returns boolean
language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return exists (select from batches b where b.env = p_env and b.id = p_batch and b.sealed_at is not null)
     and not exists (
       select from runs r where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~'
          and r.status is null)
     and not exists (
       select from batch_cached c join runs r on r.env = c.env and r.id = c.run_id
        where c.env = p_env and c.item_id >= batch_prefix(p_batch) and c.item_id < batch_prefix(p_batch) || '~' and r.status is null);
end $$;
