-- Merges debounced triggers into the delayed runs with their keys and postpones those runs. With `debounce_data` (mode `trailing`), an
-- object with one member for each column, the run's columns are replaced. If no run with the key is delayed, the trigger resolves to the
-- new run. A trigger that already resolved to another run changes nothing.
-- The planner settings of the caller apply.
--
-- Locks: debounces by environment, task and key; for each key its delayed and runs rows, run_facets and its idempotency key.
-- Callers: identify_runs.
create or replace function push_debounced_runs(p_at timestamptz, p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  t record;
  v_other text;
  v_due timestamptz;
begin
  for t in
    select i.env, i.id, i.task, i.debounce_key as key, make_interval(secs => i.debounce_max_ms / 1000.0) as max, i.debounce_data as data,
           i.delayed_until as due, i.idempotency_key, i.ordinality as ix
      from unnest(p_runs) with ordinality as i
     where i.debounce_key is not null and i.target_id is null order by 1, 3, 4
  loop
    insert into debounces as d (env, task, key, run_id, due) values (t.env, t.task, t.key, t.id, t.due)
    on conflict (env, task, key) do update set due = d.due
    returning d.run_id into v_other;
    continue when v_other = t.id;

    with pushed as (
      update delayed d
         set due = case when t.max is null then t.due else least(t.due, r.created_at + t.max) end
        from runs r
       where d.env = t.env and d.run_id = v_other and not d.retry and d.due - p_at > interval '0' and r.env = d.env and r.id = d.run_id
         and (t.max is null or r.created_at + t.max > p_at)
      returning d.due
    )
    update runs r set
      delayed_until = pushed.due, sort_key = (extract(epoch from pushed.due) * 1000)::bigint - r.priority_ms, updated_at = p_at
      from pushed where r.env = t.env and r.id = v_other
    returning r.delayed_until into v_due;

    if found then
      p_runs[t.ix].target_id := v_other;
      if t.data is not null then
        -- The caller's list of columns determines which ones are replaced.
        execute format('update runs set (%1$s) = (select %1$s from jsonb_populate_record(null::runs, $3)) where env = $1 and id = $2',
                       (select string_agg(quote_ident(k), ', ') from jsonb_object_keys(t.data) as k))
          using t.env, v_other, t.data;
        perform record_facets(array_agg(t.env), array_agg(f.facet), array_agg(v_other))
           from (select facet_of('tag', g.tag) from jsonb_array_elements_text(nullif(t.data -> 'tags', 'null')) as g (tag)
                 union all select g.facet from jsonb_array_elements_text(nullif(t.data -> 'path_facets', 'null')) as g (facet)
                 union all select facet_of('machine', t.data ->> 'machine')) as f (facet) where f.facet is not null having count(*) > 0;
      end if;
      if t.idempotency_key is not null then
        update idempotency_keys k set run_id = v_other where k.env = t.env and k.task = t.task and k.key = t.idempotency_key;
      end if;
    else
      -- The run with the key is no longer delayed: the new run takes the key.
      v_due := t.due;
    end if;
    update debounces d set run_id = coalesce(p_runs[t.ix].target_id, t.id), due = v_due where d.env = t.env and d.task = t.task and d.key = t.key;
  end loop;
  return p_runs;
end $$;
