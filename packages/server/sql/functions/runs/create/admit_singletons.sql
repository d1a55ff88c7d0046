-- Chooses the run for each trigger with a singleton key: the new run, or the live run with the same task and key. If one is live,
-- `singleton_conflict` decides:
--   skip     the trigger resolves to the live run
--   queue    it resolves to the waiting run; if a run executes and none waits, the new run waits for its end
--   replace  the live runs are canceled, and the new one waits until the executing ones have stopped
-- A run that is just starting counts as executing. A trigger that already resolved to another run is skipped.
-- A new run that must wait for another run's end waits until infinity (release_singleton). `refused` is `ancestor` for a parent that would wait
-- for itself.
-- The planner settings of the caller apply.
--
-- Locks: with `replace` as cancel_runs; then singletons by environment, task and key, and for each the waiting row of its run (key share, skip
--        locked) and its idempotency key.
-- Callers: identify_runs.
create or replace function admit_singletons(p_at timestamptz, p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  t record;
  v_ids text[] := array(select i.id from unnest(p_runs) with ordinality as i order by i.ordinality);
  v_latest text;
  v_previous text;
  v_running text;
  v_waiting text;
  v_to text;
begin
  for t in
    select i.env, i.id, i.task, i.singleton_key as key, i.singleton_conflict as conflict, i.parent_id as parent, i.idempotency_key,
           i.ordinality as ix
      from unnest(p_runs) with ordinality as i
     where i.singleton_key is not null and i.target_id is null order by 1, 3, 4, i.ordinality
  loop
    if t.conflict = 'replace' then
      perform cancel_singleton(p_at, t.env, t.task, t.key, t.parent);
    end if;
    insert into singletons as s (env, task, key, run_id) values (t.env, t.task, t.key, t.id)
    on conflict (env, task, key) do update set run_id = s.run_id
    returning s.run_id, s.previous into v_latest, v_previous;
    continue when v_latest = t.id;

    if v_latest = any (v_ids) then
      -- Run of an earlier trigger in the same statement, which has not been inserted yet.
      if t.conflict = 'replace' then
        p_runs[t.ix].wait_until := p_runs[array_position(v_ids, v_latest)].wait_until;
        for v_ix in 1 .. cardinality(p_runs) loop
          if coalesce(p_runs[v_ix].target_id, v_ids[v_ix]) = v_latest then
            p_runs[v_ix].target_id := t.id;
            p_runs[v_ix].is_cached := true;
          end if;
        end loop;
        update singletons s set run_id = t.id where s.env = t.env and s.task = t.task and s.key = t.key;
      else
        p_runs[t.ix].target_id := v_latest;
        p_runs[t.ix].is_cached := true;
      end if;
      continue;
    end if;

    v_running := (select r.id from runs r where r.env = t.env and r.id = v_previous and r.status is null limit 1);
    v_waiting := (select r.id from runs r where r.env = t.env and r.id = v_latest and r.status is null limit 1);
    if v_running is null and v_waiting is not null and t.conflict <> 'skip' and not holds_waiting(t.env, v_waiting) then
      v_running := v_waiting;
      v_waiting := null;
    end if;
    if v_waiting is not null and t.conflict = 'replace' then
      -- The waiting run was created after the canceled runs above.
      perform cancel_runs(t.env, v_waiting, p_at);
      v_waiting := null;
    end if;
    v_to := case t.conflict when 'skip' then coalesce(v_waiting, v_running) else v_waiting end;

    if left(t.idempotency_key, 1) = E'\x01' and t.parent is not null
       and coalesce(v_to, v_running) = any (array(select a.id from run_ancestors(t.env, t.parent) a)) then
      delete from idempotency_keys k
       where k.env = t.env and k.task = t.task and k.key = t.idempotency_key and k.run_id = t.id;
      p_runs[t.ix].target_id := '';
      p_runs[t.ix].refused := 'ancestor';
    elsif v_to is not null then
      p_runs[t.ix].target_id := v_to;
      p_runs[t.ix].is_cached := true;
      update idempotency_keys k set run_id = v_to
       where k.env = t.env and k.task = t.task and k.key = t.idempotency_key and k.run_id = t.id;
    else
      if v_running is not null then p_runs[t.ix].wait_until := 'infinity'; end if;
      -- The end of a run canceled above has deleted the row.
      insert into singletons as s (env, task, key, run_id, previous)
      values (t.env, t.task, t.key, t.id, v_running)
      on conflict (env, task, key) do update set run_id = excluded.run_id, previous = excluded.previous;
    end if;
  end loop;
  return p_runs;
end $$;
