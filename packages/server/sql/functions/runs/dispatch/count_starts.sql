-- Records the starts of claimed runs whose queue has a rate limit, in the transaction of their claim. Returns whether one of these limits
-- allows no more starts at `p_at`, the time of the claim. The settings of the caller apply.
--
-- Locks: queue_starts, by queue and key. The caller holds the claim lock, so no other transaction adds rows for this environment.
-- Callers: take_runs.
create or replace function count_starts(p_env int, p_at timestamptz, p_leases new_lease[]) returns boolean
language plpgsql
as $$
declare
  v_now timestamptz := rate_now();
  v_is_used boolean;
begin
  with started as materialized (
    select c.queue_id, case when q.rate_by_key then c.key else '' end as key, q.rate_burst, q.rate_window,
           count(*)::int as n
      from unnest(p_leases) as c
      cross join lateral (select x.rate_by_key, x.rate_burst, x.rate_window from queues x where x.id = c.queue_id limit 1) q
     where q.rate_burst is not null
     group by 1, 2, 3, 4
     order by 1, 2
  ), found as materialized (
    select g.*, y.tid, y.at, y.counts
      from started g
      left join lateral (
        select x.ctid as tid, x.at, x.n as counts from queue_starts x
         where x.queue_id = g.queue_id and x.key = g.key limit 1 for update) y on true
  ), noted as (
    update queue_starts s set at = f.at, n = f.counts, total = f.total
      from (select f.tid, f.rate_burst, a.at, a.n as counts, a.total
              from found f cross join lateral rate_add(f.at, f.counts, f.n, f.rate_window, p_at, v_now) a
             where f.tid is not null) f
     where s.ctid = f.tid
    returning s.total >= f.rate_burst as is_used
  ), added as (
    -- an insert without a conflict check costs less
    insert into queue_starts (env, queue_id, key, at, n, total)
    select p_env, f.queue_id, f.key, array[v_now], array[f.n], f.n from found f where f.tid is null
  )
  select bool_or(i.is_used) into v_is_used
    from (select u.is_used from noted u union all select f.n >= f.rate_burst from found f where f.tid is null) i;
  return coalesce(v_is_used, false);
end $$;
