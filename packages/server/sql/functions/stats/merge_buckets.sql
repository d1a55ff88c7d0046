-- Adds two histograms: pairs of a bucket and a count, in the order of the buckets.
--
-- Locks: none.
-- Callers: add_run_stats.
create or replace function merge_buckets(a int[], b int[]) returns int[] language sql immutable parallel safe as $$
  select case when cardinality(b) = 0 then a when cardinality(a) = 0 then b else (
    select array_agg(x.value order by s.bucket, x.nth)
      from (select p.bucket, sum(p.n)::int as n
              from (select a[i] as bucket, a[i + 1] as n from generate_series(1, cardinality(a), 2) i
                    union all select b[i], b[i + 1] from generate_series(1, cardinality(b), 2) i) p
             group by p.bucket) s
     cross join lateral (values (1, s.bucket), (2, s.n)) as x (nth, value)) end
$$;
