-- The W3C trace context of the caller of a run's trigger.
alter table runs add column traceparent text;

-- Lines of all runs of an environment, in the order of their arrival. The second index is for the level that people ask for most.
create index run_logs_by_env on run_logs (env, id);
create index run_logs_problems on run_logs (env, id) where level in ('warn', 'error');
