-- Rejects triggers above their limit: at most `limit_burst` triggers of a task and key are accepted in any `limit_span` microseconds. A trigger
-- that already resolved to another run does not count. The time is the database's, read under the lock of the key.
-- A rejected trigger creates no run, and its idempotency key becomes free again. `refused` is `limited` (or `dropped` with `limit_drops`) and
-- the end of the limit in milliseconds since 1970.
-- The planner settings of the caller apply.
--
-- Locks: trigger_starts by its key, the idempotency key of a refused trigger.
-- Callers: identify_runs.
create or replace function limit_triggers(p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  t record;
  v_at timestamptz[];
  v_n int[];
  v_span interval;
  v_now timestamptz;
  v_next timestamptz;
begin
  for t in
    select i.env, i.id, i.task, i.limit_key as key, i.limit_burst as burst, i.limit_span as span, i.limit_drops as drops,
           i.idempotency_key, i.ordinality as ix
      from unnest(p_runs) with ordinality as i
     where i.limit_key is not null and i.target_id is null order by 1, 3, 4, 5, 6, i.ordinality
  loop
    v_span := t.span * interval '1 microsecond';
    insert into trigger_starts as s (env, task, key, burst, span, at, n, over_at)
    values (t.env, t.task, t.key, t.burst, t.span, '{}', '{}', rate_now() + v_span)
    on conflict (env, task, key, burst, span) do update set over_at = s.over_at
    returning s.at, s.n into v_at, v_n;
    v_now := rate_now();
    v_next := case when cardinality(v_at) = 0 then v_now else rate_next(v_at, v_n, t.burst, v_span, v_now, 1) end;
    if v_next > v_now then
      p_runs[t.ix].target_id := '';
      p_runs[t.ix].refused := case when t.drops then 'dropped ' else 'limited ' end || ceil(extract(epoch from v_next) * 1000)::bigint;
      delete from idempotency_keys k where k.env = t.env and k.task = t.task and k.key = t.idempotency_key and k.run_id = t.id;
    else
      update trigger_starts s set (at, n, over_at) = (select a.at, a.n, v_now + v_span from rate_add(v_at, v_n, 1, v_span, v_now, v_now) a)
       where s.env = t.env and s.task = t.task and s.key = t.key and s.burst = t.burst and s.span = t.span;
    end if;
  end loop;
  return p_runs;
end $$;
