-- Records the facets of new runs (run_facets): first those of their task and queue, which are usually recorded already.
-- The planner settings of the caller apply.
--
-- Locks: run_facets by key: first those of tasks, queues and versions, then the others.
-- Callers: create_runs.
create or replace function record_new_facets(p_runs new_run[]) returns void
language plpgsql
as $$
begin
  with kinds as materialized (
    select distinct i.env, i.task, i.queue_id, i.version_id, left(i.id, 10) as span from unnest(p_runs) as i
  )
  insert into run_facets (env, facet, span)
  select distinct k.env, f.facet, k.span
    from kinds k
    join queues q on q.id = k.queue_id
    cross join lateral unnest(task_facets(k.task, k.queue_id, q.name, k.version_id)) as f (facet)
   where f.facet is not null
   order by 1, 2, 3
  on conflict do nothing;

  perform record_facets(array_agg(i.env), array_agg(f.facet), array_agg(i.id))
     from unnest(p_runs) as i
     cross join lateral (
       select facet_of('tag', t.tag) from unnest(i.tags) as t (tag)
       union all select p.facet from unnest(i.path_facets) as p (facet)
       union all select facet_of('machine', i.machine)
       union all select facet_of('region', i.region)
       union all select facet_of('test', 'true') where i.is_test
       union all select facet_of('schedule', i.schedule_id::text)
     ) as f (facet)
    where num_nonnulls(i.tags, i.path_facets, i.machine, i.region, i.is_test, i.schedule_id) > 0 and f.facet is not null
   having count(*) > 0;
end $$;
