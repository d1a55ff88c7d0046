-- Ends the waits for a run or a token that has ended.
--
-- Locks: waits by run, attempt and key; then suspended and lanes (wake_waiters).
-- Callers: complete_token, end_due_waits, end_waits_for_run.
create or replace function end_waits(p_at timestamptz, p_env int, p_watched text) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  w waits%rowtype;
  v_next text;
  v_env int[] := '{}';
  v_run text[] := '{}';
  v_attempt int[] := '{}';
begin
  for w in
    select * from waits x where x.env + 0 = p_env and x.watched = p_watched and x.over_at is null
     order by x.run_id, x.attempt, x.key for update
  loop
    if w.kind = 'BATCH' then
      v_next := watch_batch(p_env, w.target, w.watched);
      if v_next is not null then
        update waits x set watched = v_next
         where x.env = w.env and x.run_id = w.run_id and x.attempt = w.attempt and x.key = w.key;
        continue;
      end if;
    end if;
    update waits x set over_at = p_at
     where x.env = w.env and x.run_id = w.run_id and x.attempt = w.attempt and x.key = w.key;
    v_env := v_env || w.env;
    v_run := v_run || w.run_id;
    v_attempt := v_attempt || w.attempt;
  end loop;
  if cardinality(v_run) > 0 then perform wake_waiters(p_at, v_env, v_run, v_attempt); end if;
end $$;
