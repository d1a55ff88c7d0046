-- A trigger creates the queue of its task, also if the task's name is mistyped. Lists leave such queues out until a version has the task.
alter table queues add column is_declared boolean not null default true;

update queues q set is_declared = false
 where starts_with(q.name, 'task/') and not exists (
  
   select from versions v join tasks t on t.version_id = v.id where v.env = q.env and 'task/' || t.id = q.name);
