-- Registers fingerprints. A new one starts its own group (`p_group`). If the same error had another fingerprint before the rules changed
-- (`p_older`, newest first) and that fingerprint was seen recently, the new one joins its group.
--
-- Locks: error locks in the order of the environments, where there are older fingerprints; error_fingerprints in the order of their keys.
-- Callers: errors/record/cached-fingerprints.ts.
create or replace function introduce_errors(
  p_at timestamptz, p_env int[], p_task text[], p_fingerprint text[], p_group text[], p_type text[], p_message text[],
  p_sample jsonb[], p_older jsonb[]
) returns table (ix int, id int)
language plpgsql as $$
#variable_conflict use_column
begin
  -- the group of an older fingerprint must not be merged into another one in the meantime
  if p_older is not null then
    perform lock_errors(e.env) from (select distinct x as env from unnest(p_env) as x order by 1) e;
  end if;
  with input as (
    select i.* from unnest(p_env, p_task, p_fingerprint, p_group, p_type, p_message, p_sample, p_older)
      with ordinality as i (env, task, fingerprint, group_id, type, message, sample, older, ix)
  ), added as (
    insert into error_fingerprints as f (env, task, fingerprint, own_group, group_id)
    select distinct on (i.env, i.task, i.fingerprint) i.env, i.task, i.fingerprint, i.group_id, coalesce((
             select o.group_id from jsonb_array_elements_text(i.older) with ordinality as a (fingerprint, ix)
               join error_fingerprints o on o.env = i.env and o.task = i.task and o.fingerprint = a.fingerprint
              where coalesce(o.last_seen, p_at) > p_at - interval '90 days'
              order by a.ix limit 1), i.group_id)
      from input i order by i.env, i.task, i.fingerprint
    on conflict do nothing
    returning f.*
  )
  insert into error_samples (fingerprint_id, type, message, sample)
  select distinct on (a.id) a.id, i.type, i.message, i.sample
    from added a join input i on i.env = a.env and i.task = a.task and i.fingerprint = a.fingerprint
   order by a.id, i.ix;
  return query
    select i.ix::int, f.id from unnest(p_env, p_task, p_fingerprint) with ordinality as i (env, task, fingerprint, ix)
      join error_fingerprints f on f.env = i.env and f.task = i.task and f.fingerprint = i.fingerprint;
end $$;
