-- Runs that were triggered together. A batch is opened with how many items it will have, then filled, in any order and as often as
-- its sender likes; when the last item has come it is sealed, and only then may its runs start.
--
-- The run of an item has an id that follows from the batch and the item's index: an item that is sent again meets its own run,
-- the runs of a batch are one range of ids, and their order is that of the items. Until the batch is sealed its runs are in
-- none of the four places (0002): they are held by it. That a batch is over is never stored: it follows from its runs.
create table batches (
  env int not null,
  id text collate "C" not null,
  run_count int not null check (run_count between 1 and 1000),
  -- items that have come
  received int not null default 0 check (received between 0 and run_count),
  parent_run_id text collate "C",
  -- the parent waits until it is over
  resume_parent boolean not null default false,
  idempotency_key text,
  idempotency_expires_at timestamptz,
  idempotency_key_options jsonb,
  -- of the request that opened it
  request_key uuid,
  created_at timestamptz not null,
  sealed_at timestamptz,
  -- it was never filled: its runs are cancelled
  aborted_at timestamptz,
  primary key (env, id),
  check (sealed_at is null or received = run_count),
  check (sealed_at is null or aborted_at is null),
  check (parent_run_id is not null or not resume_parent)
);
create unique index batches_by_key on batches (env, idempotency_key) where idempotency_key is not null;
create unique index batches_by_request on batches (env, request_key) where request_key is not null;
create index batches_open on batches (created_at) where sealed_at is null and aborted_at is null;
-- For the duty that forgets those whose runs are gone.
create index batches_filled on batches (created_at, env, id) where sealed_at is not null or aborted_at is not null;
create index batches_by_parent on batches (env, parent_run_id) where parent_run_id is not null;

-- Items that made no run, because their idempotency key led to one. `place` is the id that their run would have had.
create table batch_cached (
  env int not null,
  place text collate "C" not null,
  run_id text collate "C" not null,
  primary key (env, place)
);
create index batch_cached_by_run on batch_cached (env, run_id);

alter table runs
  add column batch_id text collate "C",
  -- of the request that made it: sent again, it leads here
  add column request_key uuid,
  -- it gave way, or may still, to later triggers with this key
  add column debounce_key text;
create unique index runs_by_request on runs (env, request_key) where request_key is not null;

-- The run that waits under a debounce key. Once that is no longer delayed the row means nothing, and the next trigger takes it over.
create table debounces (
  env int not null,
  task text not null,
  key text not null check (length(key) <= 512),
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, task, key)
);
create index debounces_by_due on debounces (due);

-- What the ids of a batch's runs begin with; the item's index follows, three digits to the base 36.
create function batch_prefix(p_batch text) returns text language sql immutable as
$$ select ('run_' || substr(p_batch, 7, 21)) collate "C" $$;

-- The runs of a batch in the order of its items, those included that an idempotency key led to.
create function batch_runs(p_env int, p_batch text) returns table (run_id text, cached boolean)
language sql stable as $$
  select x.run_id, x.cached
    from (
      select r.id as place, r.id as run_id, false as cached from runs r
       where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~'
      union all
      select c.place, c.run_id, true from batch_cached c
       where c.env = p_env and c.place >= batch_prefix(p_batch) and c.place < batch_prefix(p_batch) || '~'
    ) x order by x.place
$$;

-- Whether all runs of a sealed batch have ended. A run that retention took away has.
create function is_batch_over(p_env int, p_batch text) returns boolean
language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  return exists (select from batches b where b.env = p_env and b.id = p_batch and b.sealed_at is not null)
     and not exists (
       select from runs r where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~'
          and r.status is null)
     and not exists (
       select from batch_cached c join runs r on r.env = c.env and r.id = c.run_id
        where c.env = p_env and c.place >= batch_prefix(p_batch) and c.place < batch_prefix(p_batch) || '~' and r.status is null);
end $$;

-- Lets the runs of a batch go, in the order of its items; the caller holds the batch's row. Answers where they went: `failed` if some
-- came with an error, which the caller is to end.
create function seal_batch(p_env int, p_batch text, p_at timestamptz) returns table (queued boolean, due timestamptz, failed boolean)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_queue int[];
  v_key text[];
  v_route int[];
  v_delayed text[];
  v_due timestamptz[];
  v_parked text[];
  v_failed int;
  v_lanes int;
begin
  update batches b set sealed_at = p_at, received = b.run_count where b.env = p_env and b.id = p_batch;
  select array_agg(x.queue_id) filter (where x.place = 'queued'), array_agg(x.key) filter (where x.place = 'queued'),
         array_agg(x.route) filter (where x.place = 'queued'), array_agg(x.id) filter (where x.place = 'delayed'),
         array_agg(x.due) filter (where x.place = 'delayed'), array_agg(x.id) filter (where x.place = 'parked'),
         count(*) filter (where x.place = 'failed')
    into v_queue, v_key, v_route, v_delayed, v_due, v_parked, v_failed
    from (
      -- of those that are queued, one of each lane
      select distinct on (y.place, y.queue_id, y.key, y.route, case when y.place <> 'queued' then y.id end) y.*
        from (
          select r.id, r.queue_id, coalesce(r.concurrency_key, '') as key, coalesce(r.version_id, 0) as route, r.delayed_until as due,
                 case when r.error is not null then 'failed'
                      when r.delayed_until > p_at then 'delayed'
                      when r.version_id is null and t.id is null then 'parked'
                      else 'queued' end as place
            from runs r
            left join current_versions c on c.env = r.env
            left join tasks t on t.version_id = c.version_id and t.id = r.task
           where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~' and r.status is null
        ) y
    ) x;

  if v_queue is not null then
    -- held, so that no claim drops them, and made where they are missing, in one order for everybody
    loop
      select count(*) into v_lanes from (
        select from unnest(v_queue, v_key, v_route) as i (queue_id, key, route)
          join lanes l on l.env = p_env and l.queue_id = i.queue_id and l.key = i.key collate "default" and l.route = i.route
           for key share of l) l;
      exit when v_lanes = cardinality(v_queue);
      insert into lanes (env, queue_id, key, route)
      select p_env, i.queue_id, i.key, i.route from unnest(v_queue, v_key, v_route) as i (queue_id, key, route) order by 2, 3, 4
      on conflict do nothing;
    end loop;
    insert into queued (lane_id, ord, run_id, env, expires_at)
    select l.id, r.ord, r.id, r.env, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end
      from runs r
      cross join lateral (
        select x.id from lanes x
         where x.env = r.env and x.queue_id = r.queue_id and x.key = coalesce(r.concurrency_key, '') and x.route = coalesce(r.version_id, 0)
         limit 1) l
     where r.env = p_env and r.id >= batch_prefix(p_batch) and r.id < batch_prefix(p_batch) || '~' and r.status is null
       and r.error is null and (v_delayed is null or r.id <> all (v_delayed)) and (v_parked is null or r.id <> all (v_parked));
  end if;
  if v_delayed is not null then
    insert into delayed (env, run_id, due) select p_env, d.id, d.due from unnest(v_delayed, v_due) as d (id, due);
  end if;
  if v_parked is not null then
    insert into parked (env, task, run_id, expires_at)
    select p_env, r.task, r.id, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end
      from unnest(v_parked) as i (id)
      cross join lateral (select x.task, x.id, x.ttl from runs x where x.env = p_env and x.id = i.id limit 1) r;
  end if;
  return query select v_queue is not null, (select min(d) from unnest(v_due) as d), v_failed > 0;
end $$;
