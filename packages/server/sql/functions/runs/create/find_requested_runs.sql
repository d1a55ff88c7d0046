-- Returns for each trigger the run that the same request created before, or the trigger's own id. A request key is forgotten after 24 hours.
-- It has no settings for the planner: those of its caller are in force.
--
-- Locks: runs whose request key is forgotten.
-- Callers: identify_runs.
create or replace function find_requested_runs(p_at timestamptz, p_env int[], p_id text[], p_request_key uuid[]) returns text[]
language plpgsql
as $$
declare
  v_run_id text[];
  v_forgotten boolean;
begin
  select array_agg(case when r.created_at > p_at - interval '24 hours' then r.id else i.id end order by i.ix),
         bool_or(r.created_at <= p_at - interval '24 hours')
    into v_run_id, v_forgotten
    from unnest(p_env, p_id, p_request_key) with ordinality as i (env, id, request_key, ix)
    left join runs r on r.env = i.env and r.request_key = i.request_key;
  if v_forgotten then
    update runs r set request_key = null from unnest(p_env, p_request_key) as i (env, request_key)
     where r.env = i.env and r.request_key = i.request_key and r.created_at <= p_at - interval '24 hours';
  end if;
  return v_run_id;
end $$;
