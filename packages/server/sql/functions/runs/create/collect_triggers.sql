-- Adds the payloads of triggers with a collect key to the runs that collect under the same key and lane. If no run is collecting, or the
-- payload does not fit, the trigger resolves to the new run. A trigger that already resolved to another run adds nothing, nor does a
-- request that is resent.
-- A run collects until it has `collect_max` payloads or is due. It is due at the `delayed_until` of its first trigger, and at most `collect_ms`
-- after any later one (a clock may be set back). A new run that is already full waits until now. It has no parent.
-- The planner settings of the caller apply.
--
-- Locks: collecting by its key, and for each the delayed row of its run (skip locked: a run that is being promoted is full) and its
--        idempotency key.
-- Callers: identify_runs.
create or replace function collect_triggers(p_at timestamptz, p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  -- all payloads of a run together are limited to the size of a single trigger (triggerBodyLimit)
  c_bytes constant int := 3145728;
  t record;
  v_ids text[] := array(select i.id from unnest(p_runs) with ordinality as i order by i.ordinality);
  v_to text;
  v_other text;
  v_due timestamptz;
  v_open boolean;
  v_pos int;
  v_bytes bigint;
  v_size int;
  v_wake boolean := false;
begin
  for t in
    select i.env, i.id, i.task, i.collect_key as key, i.collect_lane as lane, i.collect_max as max, i.collect_ms as max_ms, i.part,
           i.part_meta as meta, i.delayed_until as due, i.request_key, i.idempotency_key, i.target_id is null as is_new, i.ordinality as ix
      from unnest(p_runs) with ordinality as i
     where i.collect_key is not null order by 1, 3, 4, 5, i.ordinality
  loop
    p_runs[t.ix].parent_id := null;
    p_runs[t.ix].root_id := null;
    p_runs[t.ix].depth := null;
    continue when not t.is_new;
    loop
      select c.run_id into v_to from collecting c
       where c.env = t.env and c.task = t.task and c.key = t.key and c.lane = t.lane for update;
      exit when found;
      insert into collecting (env, task, key, lane, run_id, due)
      values (t.env, t.task, t.key, t.lane, t.id, t.due) on conflict do nothing;
      v_to := t.id;
      exit when found;
    end loop;

    v_due := null;
    if v_to = t.id then
      v_open := false;
    elsif v_to = any (v_ids) then
      -- the run of an earlier trigger in the same statement, not inserted yet
      v_open := p_runs[array_position(v_ids, v_to)].target_id is null;
    else
      select d.due into v_due from delayed d
       where d.env = t.env and d.run_id = v_to and not d.retry and d.due - p_at > interval '0' for update skip locked;
      v_open := found;
    end if;
    v_pos := 0;
    -- the brackets of the array
    v_bytes := 2;
    v_size := octet_length(t.part) + coalesce(octet_length(t.meta::text), 0) + 1;
    if v_open then
      select x.position, x.bytes into v_pos, v_bytes from run_parts x
       where x.env = t.env and x.run_id = v_to order by x.position desc limit 1;
      if v_pos >= t.max or v_bytes + v_size > c_bytes then
        -- The collecting run starts without this payload.
        if v_due is null then
          p_runs[array_position(v_ids, v_to)].wait_until := p_at;
        else
          update delayed d set due = p_at where d.env = t.env and d.run_id = v_to;
        end if;
        v_wake := true;
        v_open := false;
        v_pos := 0;
        v_bytes := 2;
      end if;
    end if;

    insert into run_parts (env, run_id, position, payload, meta, bytes, request_key)
    values (t.env, case when v_open then v_to else t.id end, v_pos + 1, t.part, t.meta, v_bytes + v_size,
            t.request_key)
    on conflict (env, request_key) where request_key is not null do nothing;
    if not found then
      -- the same request was resent
      select x.run_id into v_other from run_parts x where x.env = t.env and x.request_key = t.request_key;
      p_runs[t.ix].target_id := v_other;
    else
      if not v_open then
        update collecting c set run_id = t.id, due = t.due
         where c.env = t.env and c.task = t.task and c.key = t.key and c.lane = t.lane;
        v_to := t.id;
        v_due := null;
      end if;
      p_runs[t.ix].target_id := nullif(v_to, t.id);
      if v_pos + 1 >= t.max then
        if v_due is null then
          p_runs[array_position(v_ids, v_to)].wait_until := p_at;
        else
          update delayed d set due = p_at where d.env = t.env and d.run_id = v_to;
        end if;
        v_wake := true;
      elsif v_due > p_at + make_interval(secs => t.max_ms / 1000.0) then
        update delayed d set due = p_at + make_interval(secs => t.max_ms / 1000.0) where d.env = t.env and d.run_id = v_to;
      end if;
    end if;
    if t.idempotency_key is not null and p_runs[t.ix].target_id is not null then
      update idempotency_keys k set run_id = p_runs[t.ix].target_id
       where k.env = t.env and k.task = t.task and k.key = t.idempotency_key and k.run_id = t.id;
    end if;
  end loop;
  if v_wake then
    -- wakes the promoter, which checks for due runs
    perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object('kind', 'promotion', 'inMs', 0)))::text);
  end if;
  return p_runs;
end $$;
