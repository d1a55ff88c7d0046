-- Continues attempts after one of their waits has ended. Attempts whose code is in a runner become ready; the others are queued.
--
-- Locks: suspended by environment and run, then lanes (requeue_runs).
-- Callers: end_due_waits, end_message_waits, end_waits.
create or replace function wake_waiters(p_at timestamptz, p_env int[], p_run text[], p_attempt int[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_tid tid[];
  v_env int[];
  v_run text[];
begin
  perform from (select distinct * from unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt) order by env, run_id) i
    cross join lateral (
      select from suspended x where x.env = i.env and x.run_id = i.run_id and x.attempt = i.attempt limit 1 for update) s;
  v_tid := array(
    select s.tid from unnest(p_env, p_run, p_attempt) as i (env, run_id, attempt)
     cross join lateral (
       select x.ctid as tid from suspended x where x.env = i.env and x.run_id = i.run_id and x.attempt = i.attempt limit 1) s);
  update suspended s set ready_at = p_at where s.ctid = any (v_tid) and s.ready_at is null and num_nulls(s.runner_id) = 0;
  with gone as (
    delete from suspended s where s.ctid = any (v_tid) and num_nulls(s.runner_id) = 1 returning s.env, s.run_id
  )
  select array_agg(g.env), array_agg(g.run_id) into v_env, v_run from gone g;
  if v_run is not null then perform requeue_runs(v_env, v_run); end if;
end $$;
