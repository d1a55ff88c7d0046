-- Stores the idempotency keys of new runs, and resolves each trigger to the run that has its key: the new run if the key was free. A trigger
-- that already resolved to another run stores no key. A key becomes free when it expires or its run fails. A wait key resolves to its run
-- regardless of how that run ended; its first character is U+0001 (runs/create/idempotency-key.ts).
-- The planner settings of the caller apply.
--
-- Locks: idempotency_keys by environment, task and key.
-- Callers: identify_runs.
create or replace function claim_idempotency_keys(p_at timestamptz, p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  t record;
begin
  for t in
    with input as (
      select i.env, i.id, i.task, i.idempotency_key as key, i.idempotency_expires_at as expires_at, i.ordinality as ix
        from unnest(p_runs) with ordinality as i where i.idempotency_key is not null and i.target_id is null
    ), claimed as (
      insert into idempotency_keys as k (env, task, key, run_id, expires_at)
      select env, task, key, id, expires_at from input order by env, task, key
      on conflict (env, task, key) do update set
        (run_id, expires_at) = (
          select case when s.is_free then excluded.run_id else k.run_id end,
                 case when s.is_free then excluded.expires_at else k.expires_at end
            from (select k.expires_at <= p_at or left(k.key, 1) <> E'\x01' and exists (
                    select from runs r where r.env = k.env and r.id = k.run_id
                       and r.status in ('FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT', 'EXPIRED')) as is_free) s)
      returning k.env, k.task, k.key, k.run_id
    )
    select i.ix, c.run_id from input i join claimed c on c.env = i.env and c.task = i.task and c.key = i.key where c.run_id <> i.id
  loop
    p_runs[t.ix].target_id := t.run_id;
    p_runs[t.ix].is_cached := true;
  end loop;
  return p_runs;
end $$;
