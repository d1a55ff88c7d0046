-- Stores the idempotency keys of new runs. Returns for each trigger the run that has its key: the new run (`p_id`) if the key was free. A
-- trigger that leads to another run already (`p_run_id`) stores no key. A key is free again once it has expired or its run has failed. A
-- wait key leads to its run however that ended; its first character is U+0001 (runs/create/idempotency-key.ts).
-- It has no settings for the planner: those of its caller are in force.
--
-- Locks: idempotency_keys by environment, task and key.
-- Callers: identify_runs.
create or replace function claim_idempotency_keys(
  p_at timestamptz, p_env int[], p_id text[], p_run_id text[], p_task text[], p_key text[], p_expires timestamptz[]
) returns text[]
language plpgsql
as $$
declare
  v_run_id text[];
begin
  with input as (
    select i.env, i.run_id, i.task, case when i.run_id = i.id then i.key end as key, i.expires_at, i.ix
      from unnest(p_env, p_id, p_run_id, p_task, p_key, p_expires)
             with ordinality as i (env, id, run_id, task, key, expires_at, ix)
  ), claimed as (
    insert into idempotency_keys as k (env, task, key, run_id, expires_at)
    select env, task, key, run_id, expires_at from input where key is not null order by env, task, key
    on conflict (env, task, key) do update set
      (run_id, expires_at) = (
        select case when s.is_free then excluded.run_id else k.run_id end,
               case when s.is_free then excluded.expires_at else k.expires_at end
          from (select k.expires_at <= p_at or left(k.key, 1) <> E'\x01' and exists (
                  select from runs r where r.env = k.env and r.id = k.run_id
                     and r.status in ('FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT', 'EXPIRED')) as is_free) s)
    returning k.env, k.task, k.key, k.run_id
  )
  select array_agg(coalesce(c.run_id, i.run_id) order by i.ix) into v_run_id
    from input i left join claimed c on c.env = i.env and c.task = i.task and c.key = i.key;
  return v_run_id;
end $$;
