-- Ends due waits for a time, and tokens that were not completed in time. Returns the environments whose runs may continue.
--
-- Locks: due waits (skip locked), suspended and lanes (wake_waiters); due waitpoints (skip locked), then as end_waits.
-- Callers: runs/waits/due.ts.
create or replace function end_due_waits(p_at timestamptz, p_limit int) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_attempt int[];
  t record;
begin
  with due as materialized (
    select w.ctid as tid from waits w where w.over_at is null and w.due <= p_at order by w.due limit p_limit for update skip locked
  ), done as (
    update waits w set over_at = p_at where w.ctid = any (array(select tid from due)) returning w.env, w.run_id, w.attempt
  )
  select array_agg(d.env), array_agg(d.run_id), array_agg(d.attempt) into v_env, v_run, v_attempt from done d;
  if v_run is not null then perform wake_waiters(p_at, v_env, v_run, v_attempt); end if;
  for t in
    with late as materialized (
      select x.ctid as tid from waitpoints x where x.status = 'WAITING' and x.expires_at <= p_at
       order by x.expires_at limit p_limit for update skip locked
    )
    update waitpoints x set status = 'TIMED_OUT', completed_at = p_at where x.ctid = any (array(select tid from late))
    returning x.env, x.id
  loop
    perform end_waits(p_at, t.env, t.id);
    v_env := v_env || t.env;
  end loop;
  return query select distinct e from unnest(v_env) as e;
end $$;
