-- Records starts: drops those outside the window, and merges the latest two times if they are close. A time is only ever moved to a later
-- one, so the record allows no start too early, and a window has at most 18 times. Future times (the clock was set back) become now. Starts
-- that were outside the window at `p_since`, the time of the claim, are dropped. Written in SQL, which is inlined into the calling
-- statement. A PL/pgSQL call would cost more than all other work for a start.
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
            -- times are ordered, so this is the number of times outside the window
            from (select width_bucket(p_since - p_window, p_at) as n) o) l) k
$$;
