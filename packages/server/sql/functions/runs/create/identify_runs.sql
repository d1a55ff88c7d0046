-- Finds the run that each trigger leads to: a new run, or one that exists. Each step below runs only if a trigger needs it.
-- Returns one row of arrays in the order of the triggers. `run_ids` has the trigger's own id (`p_id`) for a run that is to be inserted, the id
-- of another run, or an empty text for a refused trigger. `cached` is true where an idempotency key or a singleton key led to another run. `root_ids` and
-- `depths` are the positions in the tree, with `parents`: a run that collects the payloads of many is nobody's child. `refused` says why a run is
-- not created: its parent, or a limit. `dues` has another time for some new runs: infinity for one that waits for the end of another one with
-- its singleton key, and now for one that has collected enough.
--
-- Locks: runs of repeated requests, runners (key share), parents (lock_parents), idempotency_keys by key, trigger_starts by
--        key, debounces by key with their delayed
--        and runs rows; then as collect_triggers and admit_singletons.
-- Callers: runs/create/insert.ts.
create or replace function identify_runs(
  p_at timestamptz, p_env int[], p_id text[], p_task text[], p_request_key uuid[],
  p_parent text[], p_parent_fence bigint[], p_root text[], p_depth smallint[], p_runner text[],
  p_idempotency_key text[], p_idempotency_expires timestamptz[],
  p_debounce_key text[], p_debounce_max_ms bigint[], p_debounce_data jsonb[], p_due timestamptz[],
  p_singleton_key text[], p_singleton_conflict text[],
  p_limit_key text[], p_limit_burst int[], p_limit_span bigint[], p_limit_drops boolean[],
  p_collect_key text[], p_collect_lane text[], p_collect_max int[], p_collect_ms bigint[], p_part text[], p_part_meta jsonb[]
) returns table (
  run_ids text[], cached boolean[], root_ids text[], depths smallint[], refused text[], dues timestamptz[], parents text[]
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_new text[];
  v_some boolean[];
begin
  run_ids := p_id;
  parents := p_parent;
  root_ids := p_root;
  depths := p_depth;

  if p_request_key is not null then
    run_ids := find_requested_runs(p_at, p_env, p_id, p_request_key);
  end if;

  if p_parent is not null then
    -- Runners are locked before leases, everywhere.
    if p_runner is not null then
      perform from runners r where r.id = any (p_runner) order by r.id for key share;
    end if;
    -- A repeated request keeps its answer, whatever has become of the parent.
    v_new := array(select case when i.root is null and i.run_id = i.id then i.parent end
                     from unnest(p_id, run_ids, p_parent, p_root) with ordinality as i (id, run_id, parent, root, ix) order by i.ix);
    select array_agg(case when h.refused is null then i.run_id else '' end order by i.ix),
           array_agg(coalesce(h.root, i.root) order by i.ix),
           array_agg(coalesce(h.depth + 1, i.depth)::smallint order by i.ix),
           array_agg(h.refused order by i.ix)
      into run_ids, root_ids, depths, refused
      from unnest(p_env, run_ids, v_new, p_root, p_depth, p_parent_fence) with ordinality as i (env, run_id, parent, root, depth, fence, ix)
      left join lock_parents(p_env, v_new, p_parent_fence) h
        on h.env = i.env and h.run_id = i.parent and h.fence is not distinct from i.fence;
  end if;

  if p_idempotency_key is not null then
    v_new := run_ids;
    run_ids := claim_idempotency_keys(p_at, p_env, p_id, run_ids, p_task, p_idempotency_key, p_idempotency_expires);
    cached := array(select i.now <> i.before from unnest(run_ids, v_new) with ordinality as i (now, before, ix) order by i.ix);
  end if;

  if p_limit_key is not null then
    select l.run_ids, l.refused into run_ids, refused
      from limit_triggers(p_env, p_id, run_ids, p_task, p_limit_key, p_limit_burst, p_limit_span, p_limit_drops, p_idempotency_key, refused) l;
  end if;

  if p_debounce_key is not null then
    run_ids := push_debounced_runs(p_at, p_env, p_id, run_ids, p_task, p_debounce_key, p_debounce_max_ms, p_debounce_data, p_due,
                                   p_idempotency_key);
  end if;

  if p_collect_key is not null then
    select c.run_ids, c.full_ into run_ids, v_some
      from collect_triggers(p_at, p_env, p_id, run_ids, p_task, p_request_key, p_idempotency_key, p_due,
                            p_collect_key, p_collect_lane, p_collect_max, p_collect_ms, p_part, p_part_meta) c;
    dues := array(select case when i.full_ then p_at end from unnest(v_some) with ordinality as i (full_, ix) order by i.ix);
    if p_parent is not null then
      select array_agg(case when i.key is null then i.parent end order by i.ix), array_agg(case when i.key is null then i.root end order by i.ix),
             array_agg(case when i.key is null then i.depth end order by i.ix)
        into parents, root_ids, depths
        from unnest(p_collect_key, parents, root_ids, depths) with ordinality as i (key, parent, root, depth, ix);
    end if;
  end if;

  if p_singleton_key is not null then
    v_new := run_ids;
    select a.run_ids, a.held, a.refused into run_ids, v_some, refused
      from admit_singletons(p_at, p_env, p_id, run_ids, p_task, p_singleton_key, p_singleton_conflict, p_parent, p_idempotency_key, refused) a;
    cached := array(select coalesce(cached[i.ix], false) or i.now <> i.before and i.now <> ''
                      from unnest(run_ids, v_new) with ordinality as i (now, before, ix) order by i.ix);
    dues := array(select case when i.held then 'infinity'::timestamptz else dues[i.ix] end
                    from unnest(v_some) with ordinality as i (held, ix) order by i.ix);
  end if;

  return next;
end $$;
