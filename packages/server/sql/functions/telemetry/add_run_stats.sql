-- Adds one minute's counts of a server process to roll-ups of the given widths in minutes. `p_rows` has a row for each series. Returns false,
-- and adds nothing, if this flush or a later one of the process was added before.
--
-- Locks: the row of the process; run_stats by key.
-- Callers: telemetry/stats/flush.ts.
create or replace function add_run_stats(p_process uuid, p_flush bigint, p_at timestamptz, p_widths int[], p_rows jsonb) returns boolean
language plpgsql as $$
begin
  insert into run_stat_flushes as f (process, flush, at) values (p_process, p_flush, p_at)
  on conflict (process) do update set flush = excluded.flush, at = excluded.at where f.flush < excluded.flush;
  if not found then return false; end if;
  insert into run_stats as s (env, width, series, at, triggered, completed, failed, crashed, system_failure, timed_out, canceled, expired,
                              retried, new_errors, regressed_errors, waited_from, waited, waited_ms, lasted_from, lasted, lasted_ms,
                              max_waiting, max_oldest_ms)
  select i.env, w.width, i.series, date_bin(make_interval(mins => w.width), p_at, 'epoch'), i.triggered, i.completed, i.failed, i.crashed,
         i.system_failure, i.timed_out, i.canceled, i.expired, i.retried, i.new_errors, i.regressed_errors,
         i.waited_from, i.waited, i.waited_ms, i.lasted_from, i.lasted, i.lasted_ms, i.max_waiting, i.max_oldest_ms
    from jsonb_to_recordset(p_rows) as i (
           env int, series text, triggered int, completed int, failed int, crashed int, system_failure int, timed_out int, canceled int,
           expired int, retried int, new_errors int, regressed_errors int, waited_from int, waited int[], waited_ms bigint,
           lasted_from int, lasted int[], lasted_ms bigint, max_waiting int, max_oldest_ms bigint)
   cross join unnest(p_widths) as w (width)
   order by 1, 2, 3
  on conflict (env, width, series, at) do update set
    triggered = s.triggered + excluded.triggered, completed = s.completed + excluded.completed, failed = s.failed + excluded.failed,
    crashed = s.crashed + excluded.crashed, system_failure = s.system_failure + excluded.system_failure,
    timed_out = s.timed_out + excluded.timed_out, canceled = s.canceled + excluded.canceled, expired = s.expired + excluded.expired,
    retried = s.retried + excluded.retried, new_errors = s.new_errors + excluded.new_errors,
    regressed_errors = s.regressed_errors + excluded.regressed_errors,
    waited_from = least(s.waited_from, excluded.waited_from),
    waited = case when excluded.waited = '{}' then s.waited else array(
      select coalesce(s.waited[b - s.waited_from + 1], 0) + coalesce(excluded.waited[b - excluded.waited_from + 1], 0)
        from generate_series(least(s.waited_from, excluded.waited_from), greatest(
               s.waited_from + cardinality(s.waited), excluded.waited_from + cardinality(excluded.waited)) - 1) b) end,
    waited_ms = s.waited_ms + excluded.waited_ms,
    lasted_from = least(s.lasted_from, excluded.lasted_from),
    lasted = case when excluded.lasted = '{}' then s.lasted else array(
      select coalesce(s.lasted[b - s.lasted_from + 1], 0) + coalesce(excluded.lasted[b - excluded.lasted_from + 1], 0)
        from generate_series(least(s.lasted_from, excluded.lasted_from), greatest(
               s.lasted_from + cardinality(s.lasted), excluded.lasted_from + cardinality(excluded.lasted)) - 1) b) end,
    lasted_ms = s.lasted_ms + excluded.lasted_ms,
    max_waiting = greatest(s.max_waiting, excluded.max_waiting), max_oldest_ms = greatest(s.max_oldest_ms, excluded.max_oldest_ms);
  return true;
end $$;
