-- Resolves each trigger to the run that the same request created earlier. A request key expires after 24 hours.
-- The planner settings of the caller apply.
--
-- Locks: runs whose request key has expired.
-- Callers: identify_runs.
create or replace function find_requested_runs(p_at timestamptz, p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  t record;
begin
  for t in
    select i.ordinality as ix, r.env, r.id, r.created_at > p_at - interval '24 hours' as is_known
      from unnest(p_runs) with ordinality as i
      join runs r on r.env = i.env and r.request_key = i.request_key
  loop
    if t.is_known then
      p_runs[t.ix].target_id := t.id;
    else
      update runs r set request_key = null where r.env = t.env and r.id = t.id;
    end if;
  end loop;
  return p_runs;
end $$;
