-- Releases the runs of a batch in item order. Returns their destinations. `failed`: some runs arrived with an error; the caller ends them.
--
-- Locks: the batch, which the caller has locked; lanes (key share), new lanes in the order of queue, key and route.
-- Callers: batches/fill.ts.
create or replace function seal_batch(p_env int, p_batch text, p_at timestamptz) returns table (queued boolean, due timestamptz, failed boolean)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_queue int[];
  v_key text[];
  v_pinned_version int[];
  v_delayed text[];
  v_due timestamptz[];
  v_pending text[];
  v_failed int;
  v_lanes int;
begin
  update batches b set sealed_at = p_at, received = b.run_count where b.env = p_env and b.id = p_batch;
  select array_agg(x.queue_id) filter (where x.destination = 'queued'), array_agg(x.key) filter (where x.destination = 'queued'),
         array_agg(x.pinned_version) filter (where x.destination = 'queued'), array_agg(x.id) filter (where x.destination = 'delayed'),
         array_agg(x.due) filter (where x.destination = 'delayed'), array_agg(x.id) filter (where x.destination = 'pending_version'),
         count(*) filter (where x.destination = 'failed')
    into v_queue, v_key, v_pinned_version, v_delayed, v_due, v_pending, v_failed
    from (
      -- of the queued runs, one for each lane
      select distinct on (y.destination, y.queue_id, y.key, y.pinned_version, case when y.destination <> 'queued' then y.id end) y.*
        from (
          select r.id, r.queue_id, coalesce(r.concurrency_key, '') as key, coalesce(r.version_id, 0) as pinned_version, r.delayed_until as due,
                 case when r.error is not null then 'failed'
                      when r.singleton_key is not null and (
                        select true from delayed d where d.env = r.env and d.run_id = r.id limit 1) then 'held'
                      when r.delayed_until > p_at then 'delayed'
                      when r.version_id is null and (t.id is null or r.external_deployment_id is not null) then 'pending_version'
                      else 'queued' end as destination
            from runs r
            left join current_versions c on c.env = r.env
            left join tasks t on t.version_id = c.version_id and t.id = r.task
           where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~' and r.status is null
        ) y
    ) x;

  if v_queue is not null then
    -- locked so that no claim drops them; missing lanes are created in one global order
    loop
      select count(*) into v_lanes from (
        select from unnest(v_queue, v_key, v_pinned_version) as i (queue_id, key, pinned_version)
          cross join lateral (
            select from lanes x where x.queue_id = i.queue_id and x.key = i.key collate "default" and x.pinned_version = i.pinned_version
             limit 1 for key share) l) l;
      exit when v_lanes = cardinality(v_queue);
      insert into lanes (env, queue_id, key, pinned_version)
      select p_env, i.queue_id, i.key, i.pinned_version from unnest(v_queue, v_key, v_pinned_version) as i (queue_id, key, pinned_version) order by 2, 3, 4
      on conflict do nothing;
    end loop;
    insert into queued (lane_id, sort_key, run_id, env, expires_at)
    select l.id, r.sort_key, r.id, r.env, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end
      from runs r
      cross join lateral (
        select x.id from lanes x
         where x.queue_id = r.queue_id and x.key = coalesce(r.concurrency_key, '') and x.pinned_version = coalesce(r.version_id, 0)
         limit 1) l
     where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~' and r.status is null
       and r.error is null
       and (r.singleton_key is null or (select true from delayed d where d.env = r.env and d.run_id = r.id limit 1) is null)
       and (v_delayed is null or r.id <> all (v_delayed)) and (v_pending is null or r.id <> all (v_pending));
  end if;
  if v_delayed is not null then
    insert into delayed (env, run_id, due) select p_env, d.id, d.due from unnest(v_delayed, v_due) as d (id, due);
  end if;
  if v_pending is not null then
    insert into pending_version (env, task, run_id, expires_at, external_id)
    select p_env, r.task, r.id, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end, r.external_deployment_id
      from unnest(v_pending) as i (id)
      cross join lateral (select x.task, x.id, x.ttl, x.external_deployment_id from runs x where x.env = p_env and x.id = i.id limit 1) r;
  end if;
  return query select v_queue is not null, (select min(d) from unnest(v_due) as d), v_failed > 0;
end $$;
