-- Merges debounced triggers into the delayed runs with their keys. Such a run is due later. It takes over `p_data` where that is given (mode
-- `trailing`), an object with a member for each column. Returns for each trigger the run that it leads to: the new run (`p_id`) if no run
-- with the key is delayed. A trigger that leads to another run already (`p_run_id`) pushes nothing.
-- It has no settings for the planner: those of its caller are in force.
--
-- Locks: debounces by environment, task and key; for each key its delayed and runs rows, run_facets and its idempotency key.
-- Callers: identify_runs.
create or replace function push_debounced_runs(
  p_at timestamptz, p_env int[], p_id text[], p_run_id text[], p_task text[], p_key text[], p_max_ms bigint[], p_data jsonb[],
  p_due timestamptz[], p_idempotency_key text[]
) returns text[]
language plpgsql
as $$
declare
  v_run_id text[] := p_run_id;
  v_ix int;
  v_other text;
  v_due timestamptz;
begin
  for v_ix in
    select g.i from generate_subscripts(p_id, 1) as g (i)
     where p_key[g.i] is not null and p_run_id[g.i] = p_id[g.i] order by p_env[g.i], p_task[g.i], p_key[g.i]
  loop
    insert into debounces as d (env, task, key, run_id, due) values (p_env[v_ix], p_task[v_ix], p_key[v_ix], p_id[v_ix], p_due[v_ix])
    on conflict (env, task, key) do update set due = d.due
    returning d.run_id into v_other;
    continue when v_other = p_id[v_ix];

    with pushed as (
      update delayed d
         set due = case when p_max_ms[v_ix] is null then p_due[v_ix]
                        else least(p_due[v_ix], r.created_at + make_interval(secs => p_max_ms[v_ix] / 1000.0)) end
        from runs r
       where d.env = p_env[v_ix] and d.run_id = v_other and not d.retry and d.due - p_at > interval '0' and r.env = d.env and r.id = d.run_id
         and (p_max_ms[v_ix] is null or r.created_at + make_interval(secs => p_max_ms[v_ix] / 1000.0) > p_at)
      returning d.due
    )
    update runs r set
      delayed_until = pushed.due, sort_key = (extract(epoch from pushed.due) * 1000)::bigint - r.priority_ms, updated_at = p_at
      from pushed where r.env = p_env[v_ix] and r.id = v_other
    returning r.delayed_until into v_due;

    if found then
      v_run_id[v_ix] := v_other;
      if p_data[v_ix] is not null then
        -- The caller's list of columns decides what is taken over.
        execute format('update runs set (%1$s) = (select %1$s from jsonb_populate_record(null::runs, $3)) where env = $1 and id = $2',
                       (select string_agg(quote_ident(k), ', ') from jsonb_object_keys(p_data[v_ix]) as k))
          using p_env[v_ix], v_other, p_data[v_ix];
        perform record_facets(array_agg(p_env[v_ix]), array_agg(f.facet), array_agg(v_other))
           from (select 'g:' || t.tag from jsonb_array_elements_text(nullif(p_data[v_ix] -> 'tags', 'null')) as t (tag)
                 union all select t.facet from jsonb_array_elements_text(nullif(p_data[v_ix] -> 'path_facets', 'null')) as t (facet)
                 union all select 'm:' || (p_data[v_ix] ->> 'machine')) as f (facet) where f.facet is not null having count(*) > 0;
      end if;
      if p_idempotency_key[v_ix] is not null then
        update idempotency_keys k set run_id = v_other
         where k.env = p_env[v_ix] and k.task = p_task[v_ix] and k.key = p_idempotency_key[v_ix];
      end if;
    else
      -- The run with the key is no longer delayed: the new run takes the key.
      v_due := p_due[v_ix];
    end if;
    update debounces d set run_id = v_run_id[v_ix], due = v_due
     where d.env = p_env[v_ix] and d.task = p_task[v_ix] and d.key = p_key[v_ix];
  end loop;
  return v_run_id;
end $$;
