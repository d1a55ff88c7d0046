-- Combines the payloads that runs have collected. The caller has removed the runs from `delayed`, so no more payloads can be added. Runs that
-- already have their payload, as before a retry, are skipped.
-- The planner settings of the caller apply.
--
-- Locks: runs by id, their run_parts.
-- Callers: cancel_runs, promote_due.
create or replace function close_collections(p_env int[], p_run text[], p_at timestamptz) returns void
language plpgsql
as $$
declare
  x record;
begin
  for x in
    select i.env, i.run_id collate "C" as run_id from unnest(p_env, p_run) as i (env, run_id) order by 2
  loop
    update runs r
       set payload = c.payload, payload_type = c.payload_type, delayed_until = least(r.delayed_until, p_at),
           sort_key = least(r.sort_key, (extract(epoch from p_at) * 1000)::bigint - r.priority_ms)
      from collected_payload(x.env, x.run_id) c
     where r.env = x.env and r.id = x.run_id;
    update run_parts p set payload = null, meta = null, closed_at = p_at
     where p.env = x.env and p.run_id = x.run_id and p.closed_at is null;
  end loop;
end $$;
