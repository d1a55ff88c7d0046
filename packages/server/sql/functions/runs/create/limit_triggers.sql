-- Refuses triggers above their limit: no more than `p_burst` are accepted in any `p_span` microseconds, of a task and key. A trigger that leads
-- to another run already (`p_run_id`) does not count. The time is the database's, read under the lock of the key.
-- `run_ids` is empty for a trigger that is refused, and its idempotency key is free again. `refused` says until when: `limited` or, with
-- `p_drops`, `dropped`, and milliseconds since 1970.
-- It has no settings for the planner: those of its caller are in force.
--
-- Locks: trigger_starts by its key, the idempotency key of a refused trigger.
-- Callers: identify_runs.
create or replace function limit_triggers(
  p_env int[], p_id text[], p_run_id text[], p_task text[], p_key text[], p_burst int[], p_span bigint[], p_drops boolean[],
  p_idempotency_key text[], p_refused text[],
  out run_ids text[], out refused text[]
)
language plpgsql
as $$
declare
  v_ix int;
  v_at timestamptz[];
  v_n int[];
  v_span interval;
  v_now timestamptz;
  v_next timestamptz;
begin
  run_ids := p_run_id;
  refused := p_refused;
  for v_ix in
    select g.i from generate_subscripts(p_id, 1) as g (i)
     where p_key[g.i] is not null and p_run_id[g.i] = p_id[g.i] order by p_env[g.i], p_task[g.i], p_key[g.i], p_burst[g.i], p_span[g.i], g.i
  loop
    v_span := p_span[v_ix] * interval '1 microsecond';
    insert into trigger_starts as s (env, task, key, burst, span, at, n, over_at)
    values (p_env[v_ix], p_task[v_ix], p_key[v_ix], p_burst[v_ix], p_span[v_ix], '{}', '{}', rate_now() + v_span)
    on conflict (env, task, key, burst, span) do update set over_at = s.over_at
    returning s.at, s.n into v_at, v_n;
    v_now := rate_now();
    v_next := case when cardinality(v_at) = 0 then v_now else rate_next(v_at, v_n, p_burst[v_ix], v_span, v_now, 1) end;
    if v_next > v_now then
      run_ids[v_ix] := '';
      refused[v_ix] := case when p_drops[v_ix] then 'dropped ' else 'limited ' end || ceil(extract(epoch from v_next) * 1000)::bigint;
      delete from idempotency_keys k
       where k.env = p_env[v_ix] and k.task = p_task[v_ix] and k.key = p_idempotency_key[v_ix] and k.run_id = p_id[v_ix];
    else
      update trigger_starts s set (at, n, over_at) = (select a.at, a.n, v_now + v_span from rate_add(v_at, v_n, 1, v_span, v_now, v_now) a)
       where s.env = p_env[v_ix] and s.task = p_task[v_ix] and s.key = p_key[v_ix] and s.burst = p_burst[v_ix] and s.span = p_span[v_ix];
    end if;
  end loop;
end $$;
