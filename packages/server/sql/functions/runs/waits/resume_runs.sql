-- Assigns slots to the ready runs of an environment, as far as limits allow.
--
-- Locks: their runners by id (key share), the claim lock, suspended by run, leases, waits.
-- Callers: runs/waits/resume.ts.
create or replace function resume_runs(p_env int, p_at timestamptz, p_limit int)
returns table (run_id text, fence bigint, runner_id text, suspension bigint, keys text[])
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_limit int;
  v_room int := p_limit;
begin
  if not exists (select from suspended s where s.env = p_env and s.ready_at is not null) then return; end if;
  perform from runners r
   where r.id in (select s.runner_id from suspended s where s.env = p_env and s.ready_at is not null)
   order by r.id for key share;
  perform claim_lock(p_env);
  select e.concurrency_limit into v_limit from environments e where e.id = p_env and not e.paused;
  if not found then return; end if;
  if v_limit is not null then
    v_room := least(v_room, v_limit - (select count(*) from leases l where l.env = p_env)::int);
  end if;
  return query
    with ready as materialized (
      select s.run_id, s.queue_id, s.key, s.ready_at,
             row_number() over (partition by s.queue_id, s.key order by s.ready_at, s.run_id) as nth
        from suspended s cross join lateral (select from runners x where x.id = s.runner_id limit 1) r
       where s.env = p_env and s.ready_at is not null
    ), own as materialized (
      select y.run_id, y.ready_at, q.shared_limit_id,
             row_number() over (partition by q.shared_limit_id order by y.ready_at, y.run_id) as nth
        from ready y join queues q on q.id = y.queue_id
       where not q.paused and (coalesce(q.concurrency_override, q.concurrency_limit) is null
          or y.nth <= coalesce(q.concurrency_override, q.concurrency_limit)
               - (select count(*) from leases x where x.queue_id = y.queue_id and x.key = y.key))
    ), rooms as materialized (
      select i.id, shared_room(i.id, false) as room
        from (select distinct o.shared_limit_id as id from own o where o.shared_limit_id is not null) i
    ), fits as materialized (
      select o.run_id from own o left join rooms r on r.id = o.shared_limit_id
       where r.id is null or o.nth <= r.room
       order by o.ready_at, o.run_id limit greatest(0, v_room)
    ), locked as materialized (
      select s.tid
        from (select f.run_id from fits f order by f.run_id) f
        cross join lateral (
          select x.ctid as tid from suspended x where x.env = p_env and x.run_id = f.run_id and num_nulls(x.runner_id) = 0
           limit 1 for update) s
    ), gone as (
      delete from suspended s where s.ctid = any (array(select h.tid from locked h)) returning s.*
    ), leased as (
      insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, cancel_requested,
                          runner_no)
      select g.env, g.run_id, g.fence, g.runner_id, g.queue_id, g.key, g.version_id, g.attempt,
             -- as if it had run without a pause, because waiting time does not count
             p_at - make_interval(secs => g.active_ms / 1000.0), g.cancel_requested, g.runner_no
        from gone g
    ), reported as (
      update waits w set reported = true
       where w.ctid = any (array(
         select x.tid from gone g
          cross join lateral (
            select y.ctid as tid from waits y
             where y.env = g.env and y.run_id = g.run_id and y.attempt = g.attempt and y.over_at is not null and not y.reported offset 0) x))
      returning w.run_id, w.key
    )
    select g.run_id, g.fence, g.runner_id, g.suspension,
           (select coalesce(array_agg(t.key), '{}') from reported t where t.run_id = g.run_id)
      from gone g;
end $$;
