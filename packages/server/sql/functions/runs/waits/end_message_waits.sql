-- Ends the waits for messages that have arrived in sessions, up to the given last numbers. For a session that accepts no more messages, the
-- number is higher than all others. Returns the environments whose runs may continue.
--
-- Locks: waits by environment, channel, run, attempt and key; then suspended and lanes (wake_waiters).
-- Callers: runs/waits/messages.ts.
create or replace function end_message_waits(p_at timestamptz, p_env int[], p_channel text[], p_last bigint[]) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_attempt int[];
begin
  with over as materialized (
    select w.tid
      -- in one global order
      from (select * from unnest(p_env, p_channel, p_last) as i (env, channel, last) order by env, channel) i
      cross join lateral (
        select x.ctid as tid from waits x
         where x.env + 0 = i.env and x.watched = i.channel and x.over_at is null and x.beyond < i.last
         order by x.run_id, x.attempt, x.key for update) w
  ), done as (
    update waits w set over_at = p_at where w.ctid = any (array(select tid from over)) returning w.env, w.run_id, w.attempt
  )
  select array_agg(d.env), array_agg(d.run_id), array_agg(d.attempt) into v_env, v_run, v_attempt from done d;
  if v_run is null then return; end if;
  perform wake_waiters(p_at, v_env, v_run, v_attempt);
  return query select distinct e from unnest(v_env) as e;
end $$;
