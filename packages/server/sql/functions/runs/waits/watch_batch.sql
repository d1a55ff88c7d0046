-- Watches one unfinished run of a batch, starting from `p_after`; the runs before that have ended. Returns null if all have ended. The next
-- run is chosen only when the watched one ends, so that a thousand runs that end do not contend for one row.
--
-- Locks: the run that it watches (watch_run).
-- Callers: begin_waits, end_waits.
create or replace function watch_batch(p_env int, p_batch text, p_after text default '') returns text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_from text := greatest(batch_prefix(p_batch) collate "C", p_after collate "C");
  v_run text;
begin
  loop
    select r.id into v_run from runs r
     where r.env = p_env and r.id > v_from and r.id < batch_prefix(p_batch) || '~' and r.status is null order by r.id limit 1;
    if not found then
      select c.run_id into v_run from batch_cached c join runs r on r.env = c.env and r.id = c.run_id
       where c.env = p_env and c.item_id >= batch_prefix(p_batch) and c.item_id < batch_prefix(p_batch) || '~' and r.status is null limit 1;
    end if;
    if not found then return null; end if;
    if watch_run(p_env, v_run) then return v_run; end if;
  end loop;
end $$;
