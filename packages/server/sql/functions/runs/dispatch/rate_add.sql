-- Notes starts: drops those that are over, and gives the latest two times one if they are close. A time is only ever moved to a later one,
-- so what is noted allows no start too early, and there are at most 18 times in a window. Times in the future (the clock was set back) become
-- now. What is over at the time `p_since`, when the claim looked, is dropped. In SQL, which becomes part of the statement that calls it: a
-- call of PL/pgSQL would cost more than all else that is done for the start of a key.
--
-- Locks: none.
-- Callers: count_starts, limit_triggers.
create or replace function rate_add(
  p_at timestamptz[], p_n int[], p_count int, p_window interval, p_since timestamptz, p_now timestamptz
) returns table (at timestamptz[], n int[], total int)
language sql stable parallel safe as $$
  select case when k.is_close then k.at[: k.last - 1] || p_now else k.at || p_now end,
         case when k.is_close then k.n[: k.last - 1] || (k.n[k.last] + p_count) else k.n || p_count end,
         p_count + coalesce((select sum(x.n)::int from unnest(k.n) as x (n)), 0)
    from (
      select l.*, coalesce(l.at[l.last] = p_now or p_now - l.at[l.last - 1] < p_window / 8, false) as is_close
        from (
          select cardinality(p_at) - o.n as last, p_n[o.n + 1 :] as n,
                 case when p_at[cardinality(p_at)] > p_now
                      then array(select least(x.at, p_now) from unnest(p_at[o.n + 1 :]) with ordinality as x (at, ix) order by x.ix)
                      else p_at[o.n + 1 :] end as at
            -- the times are in order: so many are over
            from (select width_bucket(p_since - p_window, p_at) as n) o) l) k
$$;
