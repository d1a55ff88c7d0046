-- Adds the payloads of triggers with a collect key to the runs that collect under their key and lane. Returns for each trigger the run that it
-- leads to: the new run (`p_id`) if none collects, or if the payload does not fit. A trigger that leads to another run already (`p_run_id`)
-- adds nothing, nor does a request that is sent again.
-- A run collects until it has `p_max` payloads or its time has come, which is `p_due` of its first trigger and at most `p_wait_ms` from any
-- later one (a clock may be set back). `full` is true for new runs that need not wait.
-- It has no settings for the planner: those of its caller are in force.
--
-- Locks: collecting by its key, and for each the delayed row of its run (skip locked: a run that is being promoted collects no more) and its
--        idempotency key.
-- Callers: identify_runs.
create or replace function collect_triggers(
  p_at timestamptz, p_env int[], p_id text[], p_run_id text[], p_task text[], p_request_key uuid[], p_idempotency_key text[],
  p_due timestamptz[], p_key text[], p_lane text[], p_max int[], p_wait_ms bigint[], p_part text[], p_meta jsonb[],
  out run_ids text[], out full_ boolean[]
)
language plpgsql
as $$
declare
  -- of the payloads of a run together: as many as one trigger may bring (triggerBodyLimit)
  c_bytes constant int := 3145728;
  v_ix int;
  v_to text;
  v_other text;
  v_due timestamptz;
  v_open boolean;
  v_pos int;
  v_bytes bigint;
  v_size int;
  v_wake boolean := false;
begin
  run_ids := p_run_id;
  full_ := array_fill(false, array[cardinality(p_id)]);
  for v_ix in
    select g.i from generate_subscripts(p_id, 1) as g (i)
     where p_key[g.i] is not null and p_run_id[g.i] = p_id[g.i] order by p_env[g.i], p_task[g.i], p_key[g.i], p_lane[g.i], g.i
  loop
    loop
      select c.run_id into v_to from collecting c
       where c.env = p_env[v_ix] and c.task = p_task[v_ix] and c.key = p_key[v_ix] and c.lane = p_lane[v_ix] for update;
      exit when found;
      insert into collecting (env, task, key, lane, run_id, due)
      values (p_env[v_ix], p_task[v_ix], p_key[v_ix], p_lane[v_ix], p_id[v_ix], p_due[v_ix]) on conflict do nothing;
      v_to := p_id[v_ix];
      exit when found;
    end loop;

    v_due := null;
    if v_to = p_id[v_ix] then
      v_open := false;
    elsif v_to = any (p_id) then
      -- of a trigger before this one in the same statement: not inserted yet
      v_open := run_ids[array_position(p_id, v_to)] = v_to;
    else
      select d.due into v_due from delayed d
       where d.env = p_env[v_ix] and d.run_id = v_to and not d.retry and d.due - p_at > interval '0' for update skip locked;
      v_open := found;
    end if;
    v_pos := 0;
    -- the brackets
    v_bytes := 2;
    v_size := octet_length(p_part[v_ix]) + coalesce(octet_length(p_meta[v_ix]::text), 0) + 1;
    if v_open then
      select p.position, p.bytes into v_pos, v_bytes from run_parts p
       where p.env = p_env[v_ix] and p.run_id = v_to order by p.position desc limit 1;
      if v_pos >= p_max[v_ix] or v_bytes + v_size > c_bytes then
        -- It starts without this one.
        if v_due is null then
          full_[array_position(p_id, v_to)] := true;
        else
          update delayed d set due = p_at where d.env = p_env[v_ix] and d.run_id = v_to;
          v_wake := true;
        end if;
        v_open := false;
        v_pos := 0;
        v_bytes := 2;
      end if;
    end if;

    insert into run_parts (env, run_id, position, payload, meta, bytes, request_key)
    values (p_env[v_ix], case when v_open then v_to else p_id[v_ix] end, v_pos + 1, p_part[v_ix], p_meta[v_ix], v_bytes + v_size,
            p_request_key[v_ix])
    on conflict (env, request_key) where request_key is not null do nothing;
    if not found then
      -- the same request, sent again
      select p.run_id into v_other from run_parts p where p.env = p_env[v_ix] and p.request_key = p_request_key[v_ix];
      run_ids[v_ix] := v_other;
    else
      if not v_open then
        update collecting c set run_id = p_id[v_ix], due = p_due[v_ix]
         where c.env = p_env[v_ix] and c.task = p_task[v_ix] and c.key = p_key[v_ix] and c.lane = p_lane[v_ix];
        v_to := p_id[v_ix];
        v_due := null;
      end if;
      run_ids[v_ix] := v_to;
      if v_pos + 1 >= p_max[v_ix] then
        if v_due is null then
          full_[array_position(p_id, v_to)] := true;
        else
          update delayed d set due = p_at where d.env = p_env[v_ix] and d.run_id = v_to;
          v_wake := true;
        end if;
      elsif v_due > p_at + make_interval(secs => p_wait_ms[v_ix] / 1000.0) then
        update delayed d set due = p_at + make_interval(secs => p_wait_ms[v_ix] / 1000.0) where d.env = p_env[v_ix] and d.run_id = v_to;
      end if;
    end if;
    if p_idempotency_key[v_ix] is not null and run_ids[v_ix] <> p_id[v_ix] then
      update idempotency_keys k set run_id = run_ids[v_ix]
       where k.env = p_env[v_ix] and k.task = p_task[v_ix] and k.key = p_idempotency_key[v_ix] and k.run_id = p_id[v_ix];
    end if;
  end loop;
  if v_wake or true = any (full_) then
    -- the promoter looks at what is due
    perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object('kind', 'held', 'inMs', 0)))::text);
  end if;
end $$;
