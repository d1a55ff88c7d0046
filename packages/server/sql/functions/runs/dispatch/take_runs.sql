-- The third part of a claim: takes the oldest runs of each lane out of the queue, as many as the lane shares and the claim allow, and leases
-- them to the runner. Each lane gives the rest of a turn first, then all lanes give their full turns, then each gives its last turn in ring
-- order.
-- Returns the leases; where the claim stopped, with the newest lane of its revolution if that has not ended; whether some lane has runs beyond
-- its share, or a rate limit has no start left; and the lanes that the claim has emptied.
-- Invariant: each run that it takes has exactly one lease and is in no lane, both in this transaction.
--
-- Locks: queued rows that it deletes, queue_starts where a rate limit applies. The caller holds the claim lock, and the runner (key share).
-- Callers: claim_runs.
create or replace function take_runs(
  p_scope claim_scope, p_page lane_page, p_shares lane_share[], p_want int,
  out leases new_lease[], out stopped ring_cursor, out has_more boolean, out emptied bigint[]
)
language plpgsql
as $$
declare
  -- above the maximum of a page
  c_lanes constant int := 1000;
  v_credit_used int;
  v_last bigint;
  v_positions bigint[];
begin
  -- A lane without runs is part of the page but has no row. One run beyond a lane's share shows whether this claim empties the lane.
  with head as materialized (
    select p.*,
           -- within the number allowed for the lanes of its queue and key
           count(*) filter (where p.row is not null and not p.is_more) over (partition by p.queue_key order by p.pass, p.pos, p.n) as nth
      from (
        select p.lane_id, p.pinned_version, p.queue_key, p.room, p.cap, p.max_runs, p.row, p.n, p.row is not null and p.n > p.max_runs as is_more,
               case when p.n <= p.credit then 0 when p.n <= p.credit + p.in_full_turns then 1 else 2 end as pass,
               -- a lane that has used up the rest of a turn is last in the ring
               case when p.credit > 0 and p.n > p.credit then p.at + c_lanes else p.at end as pos
          from (
            select s.*, h.row, row_number() over (partition by s.at order by h.sort_key, h.run_id) as n
              from unnest(p_shares) with ordinality
                     as s (lane_id, pinned_version, turn, weight, room, queue_key, cap, credit, in_full_turns, max_runs, at)
              left join lateral (
                select w.ctid as row, w.sort_key, w.run_id from queued w
                 where w.lane_id = s.lane_id and (w.expires_at is null or w.expires_at > p_scope.at)
                   and (p_scope.only_canary is null or s.pinned_version <> 0 or p_scope.only_canary = (
                     canary_share(w.run_id) < p_scope.canary_percent
                     and (select true from runs r join tasks x on x.version_id = p_scope.canary and x.id = r.task
                           where r.env = p_scope.env and r.id = w.run_id limit 1) is not null))
                 order by w.sort_key, w.run_id
                 limit case when s.room > 0 then s.max_runs + 1 else 0 end
              ) h on true) p) p
  ), taken as (
    delete from queued w
     using (select * from head h where h.row is not null and not h.is_more and h.nth <= h.cap order by h.pass, h.pos, h.n limit p_want) h
     where w.ctid = h.row
    returning w.lane_id, w.run_id, w.sort_key, h.pinned_version, h.pass, h.pos
  ), leased as materialized (
    select t.lane_id, t.pass, t.pos, t.run_id, t.sort_key, nextval('lease_fences') as fence, x.attempt + 1 as attempt, x.queue_id,
           coalesce(x.concurrency_key, '') as key,
           case when t.pinned_version <> 0 then t.pinned_version
                when p_scope.canary is not null and canary_share(t.run_id) < p_scope.canary_percent
                 and (select true from tasks c where c.version_id = p_scope.canary and c.id = x.task limit 1) is not null then p_scope.canary
                else p_scope.current_version end as version_id
      from taken t
      cross join lateral (
        select r.attempt, r.task, r.queue_id, r.concurrency_key from runs r where r.env = p_scope.env and r.id = t.run_id limit 1) x
  ), written as (
    insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, runner_no)
    select p_scope.env, l.run_id, l.fence, p_scope.runner_id, l.queue_id, l.key, l.version_id, l.attempt, p_scope.at, p_scope.runner_no
      from leased l
  )
  select array_agg(row (l.run_id, l.fence, l.attempt, l.version_id, l.queue_id, l.key, l.sort_key)::new_lease),
         count(*) filter (where l.pass = 0), max(l.pos) filter (where l.pass = 2), array_agg(l.pos) filter (where l.pass = 2),
         exists (select from head h where h.is_more and h.room > h.max_runs),
         array(
           select i.lane_id
             from (select h.lane_id, case when h.row is null then 0 else 1 end as n from head h where h.room > 0
                   union all select x.lane_id, -1 from leased x) i
            group by i.lane_id having sum(i.n) = 0)
    into leases, v_credit_used, v_last, v_positions, has_more, emptied
    from leased l;
  if leases is null then return; end if;
  stopped := stopped_at(p_page, p_shares, (v_last - 1) % c_lanes + 1, cardinality(array_positions(v_positions, v_last)), v_credit_used,
                        cardinality(leases) = p_want);
  if p_page.has_rate_limit then has_more := count_starts(p_scope.env, p_scope.rate_now, leases) or has_more; end if;
end $$;
