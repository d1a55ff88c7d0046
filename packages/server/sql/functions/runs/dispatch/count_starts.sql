-- Notes the starts of claimed runs whose queue has a limit of rate, in the transaction of their claim. Returns whether one of these limits
-- allows no more at the time `p_at`, when the claim looked. Its settings are those of its caller.
--
-- Locks: queue_starts, by queue and key. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function count_starts(p_env int, p_at timestamptz, p_runs claimed_run[]) returns boolean
language plpgsql
as $$
declare
  v_now timestamptz := rate_now();
  v_is_used boolean;
begin
  with noted as (
    insert into queue_starts as s (env, queue_id, key, at, n, total)
    select p_env, g.queue_id, g.key, array[v_now], array[g.n], g.n
      from (
        select c.queue_id, case when q.rate_by_key then coalesce(c.concurrency_key, '') else '' end as key, count(*)::int as n
          from unnest(p_runs) as c
          cross join lateral (select x.rate_by_key, x.rate_burst from queues x where x.id = c.queue_id limit 1) q
         where q.rate_burst is not null
         group by 1, 2) g
     order by g.queue_id, g.key
    on conflict (queue_id, key) do update
      set (at, n, total) = (
        select a.at, a.n, a.total
          from (select x.rate_window from queues x where x.id = excluded.queue_id limit 1) q
          cross join lateral rate_add(s.at, s.n, excluded.total, q.rate_window, p_at, v_now) a)
    returning queue_id, total
  )
  select bool_or(n.total >= (select q.rate_burst from queues q where q.id = n.queue_id limit 1)) into v_is_used from noted n;
  return coalesce(v_is_used, false);
end $$;
