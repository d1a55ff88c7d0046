-- The payloads that a run has collected, in order, combined into one JSON array. If any of them is superjson, the whole array is superjson,
-- whose notes (`meta`) are keyed by the path of a value; here each path begins with the position in the array.
-- A run without parts has no rows. The planner settings of the caller apply.
--
-- Locks: none.
-- Callers: runs/archive/page.ts, runs/create/replay.ts, runs/retrieve/retrieve.ts, close_collections.
create or replace function collected_payload(p_env int, p_run text) returns table (payload text, payload_type text)
language plpgsql stable
as $$
declare
  v_json text;
  v_is_plain boolean;
  v_values jsonb;
  v_equal jsonb;
begin
  select '[' || string_agg(p.payload, ',' order by p.position) || ']', count(p.meta) = 0 into v_json, v_is_plain
    from run_parts p where p.env = p_env and p.run_id = p_run and p.closed_at is null;
  if v_json is null then return; end if;
  if v_is_plain then
    return query select v_json, null::text;
    return;
  end if;
  select jsonb_object_agg(x.key, x.value) into v_values
    from run_parts p
    cross join lateral (
      select (p.position - 1)::text as key, p.meta -> 'values' as value where jsonb_typeof(p.meta -> 'values') = 'array'
      union all
      select p.position - 1 || '.' || e.key, e.value
        from jsonb_each(case when jsonb_typeof(p.meta -> 'values') = 'object' then p.meta -> 'values' else '{}' end) e
    ) x
   where p.env = p_env and p.run_id = p_run and p.closed_at is null;
  select jsonb_object_agg(concat_ws('.', p.position - 1, nullif(e.key, '')),
                          (select jsonb_agg(p.position - 1 || '.' || i.path) from jsonb_array_elements_text(e.value) as i (path)))
    into v_equal
    from run_parts p cross join lateral jsonb_each(coalesce(p.meta -> 'equal', '{}')) e
   where p.env = p_env and p.run_id = p_run and p.closed_at is null;
  return query select '{"json":' || v_json || ',"meta":'
    || jsonb_strip_nulls(jsonb_build_object('values', v_values, 'referentialEqualities', v_equal, 'v', 1)) || '}', 'application/super+json';
end $$;
