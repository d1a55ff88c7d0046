-- Stores step results. Returns a row for each step whose attempt still has its run. For other steps nothing is stored or returned. A result
-- never changes. A failure is replaced by a later result from the same or a later attempt.
--
-- Locks: as lock_parents, then run_steps by run and name.
-- Callers: runs/steps/store.ts.
create or replace function store_steps(
  p_at timestamptz, p_env int[], p_run text[], p_fence bigint[], p_name text[], p_kind text[], p_status text[], p_seq int[], p_tries int[],
  p_took double precision[], p_detail text[], p_output text[], p_output_type text[], p_sealed text[], p_sealed_id text[], p_error text[],
  p_is_sequential boolean[]
) returns table (env int, run_id text, fence bigint, name text, is_new boolean, at timestamptz, detail text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_is_leased boolean[];
  v_new text[];
begin
  select array_agg(h.run_id is not null order by i.ix) into v_is_leased
    from unnest(p_env, p_run, p_fence) with ordinality as i (env, run_id, fence, ix)
    left join lock_parents(p_env, p_run, p_fence) h
      on h.env = i.env and h.run_id = i.run_id and h.fence = i.fence and h.refused is null;

  with written as (
    insert into run_steps as s (env, run_id, name, kind, status, seq, attempt, version_id, tries, started_at, ended_at, detail, output,
                                output_type, sealed, sealed_id, error, is_sequential)
    select i.env, i.run_id, i.name, i.kind, i.status, i.seq, a.attempt, a.version_id, i.tries,
           p_at - make_interval(secs => i.took / 1000), p_at, i.detail, i.output, i.output_type, decode(i.sealed, 'base64'), i.sealed_id,
           i.error::jsonb, i.is_sequential
      from unnest(p_env, p_run, p_fence, p_name, p_kind, p_status, p_seq, p_tries, p_took, p_detail, p_output, p_output_type, p_sealed,
                  p_sealed_id, p_error, p_is_sequential, v_is_leased)
             as i (env, run_id, fence, name, kind, status, seq, tries, took, detail, output, output_type, sealed, sealed_id, error,
                   is_sequential, is_leased)
      cross join lateral (
        (select l.attempt, l.version_id from leases l where l.env = i.env and l.run_id = i.run_id and l.fence = i.fence limit 1)
        union all
        (select u.attempt, u.version_id from suspended u where u.env = i.env and u.run_id = i.run_id and u.fence = i.fence limit 1)
        limit 1) a
     where i.is_leased
     order by i.env, i.run_id, i.name
    on conflict (env, run_id, name) do update
      set kind = excluded.kind, status = excluded.status, seq = excluded.seq, attempt = excluded.attempt, version_id = excluded.version_id,
          tries = excluded.tries, started_at = excluded.started_at, ended_at = excluded.ended_at, detail = excluded.detail,
          output = excluded.output, output_type = excluded.output_type, sealed = excluded.sealed, sealed_id = excluded.sealed_id,
          error = excluded.error, is_sequential = excluded.is_sequential, taken_from = null
    where s.status = 'FAILED'
    returning s.env, s.run_id, s.name)
  select array_agg(w.env || ' ' || w.run_id || ' ' || w.name) into v_new from written w;

  return query
  select s.env, s.run_id, i.fence, s.name, coalesce(s.env || ' ' || s.run_id || ' ' || s.name = any (v_new), false), s.ended_at, s.detail
    from unnest(p_env, p_run, p_fence, p_name, v_is_leased) as i (env, run_id, fence, name, is_leased)
    join run_steps s on s.env = i.env and s.run_id = i.run_id and s.name = i.name
   where i.is_leased;
end $$;
