-- The facets of a new run's task, queue and version. A task's own queue has no facet, because its runs are those of the task.
--
-- Locks: none.
-- Callers: runs/create/insert-sealed.ts, record_new_facets.
create or replace function task_facets(p_task text, p_queue_id int, p_queue text, p_version int) returns text[]
language sql immutable parallel safe
as $$
  select case when p_queue = 'task/' || p_task then array[facet_of('own_queue_task', p_task), facet_of('version', p_version::text)]
              else array[facet_of('other_queue_task', p_task), facet_of('queue', p_queue_id::text), facet_of('version', p_version::text)] end
$$;
