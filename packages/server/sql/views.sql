-- Version 1 of the SQL views: the data of Millrace for reports. See docs/sql-views.md.
--
-- `millrace sql-views install` runs this file, and `millrace sql-views sql` prints it. It can be run again. A server that starts runs it if the
-- schema exists and the text has changed.
--
-- The names and types of the columns never change: a view may get further columns at its end, and anything else needs a new schema
-- (`millrace_v2`) next to this one. No view has payloads, outputs, metadata, log lines, variables or credentials. The text after a column is
-- its description in docs/sql-views.md.
--
-- A role sees the environments that `sql_readers` lists for it; their branches are included. All other views join `environments`, which checks
-- this. `security_barrier` prevents functions of the reader from seeing rows before the check.

create schema if not exists millrace_v1;

-- The smallest possible id of a run that was created at this time or later. Ids are ordered by time and indexed; the column `created_at` is
-- not. So `run_id >= millrace_v1.run_id_at(now() - interval '1 day')` reads only the last day.
create or replace function millrace_v1.run_id_at(at timestamptz) returns text language sql immutable parallel safe strict
return 'run_' || (
  select string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + (greatest(0, floor(extract(epoch from at) * 1000)::bigint) / w.unit % 36)::int, 1), '' order by w.unit desc)
    from unnest('{1,36,1296,46656,1679616,60466176,2176782336,78364164096}'::bigint[]) as w (unit)) collate "C";

create or replace view millrace_v1.environments with (security_barrier) as select
  e.public_id as environment_id, -- the id of the environment
  p.ref as project_id, -- the project, `proj_…`
  p.name as project, -- the name of the project
  p.organization_id as organization_id, -- the organization, `org_…`
  e.kind as kind, -- `dev`, `stg`, `prod` or `preview`
  e.branch as branch, -- the name of a branch; null otherwise
  e.paused as is_paused, -- whether no runs start
  e.concurrency_limit as concurrency_limit, -- the maximum number of executing runs; null for no limit
  e.created_at as created_at, -- when it was created
  e.archived_at as archived_at -- when it was archived
from environments e join projects p on p.id = e.project_id
where p.deleted_at is null
  and exists (select from sql_readers s where s.role = current_user::text and s.env in (0, e.id, e.parent_id));

create or replace view millrace_v1.runs with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  r.id as run_id, -- the id of the run; ids are ordered by creation
  r.task as task, -- the task
  coalesce(r.status,
    (select 'EXECUTING' from leases l where l.env = r.env and l.run_id = r.id),
    (select case when u.ready_at is null then 'WAITING' else 'QUEUED' end from suspended u where u.env = r.env and u.run_id = r.id),
    (select case when d.retry then 'EXECUTING' else 'DELAYED' end from delayed d where d.env = r.env and d.run_id = r.id),
    (select 'PENDING_VERSION' from pending_version w where w.env = r.env and w.task = r.task and w.run_id = r.id),
    'QUEUED') as status, -- the [status](state-machine.md) of the run
  (select q.name from queues q where q.id = r.queue_id) as queue, -- the queue; `task/<id>` is a task's own
  r.concurrency_key as concurrency_key, -- the concurrency key
  (select v.version from versions v where v.id = coalesce(r.version_id,
    (select l.version_id from leases l where r.status is null and l.env = r.env and l.run_id = r.id))) as version, -- the version; null before the first start
  coalesce((select l.attempt from leases l where r.status is null and l.env = r.env and l.run_id = r.id),
    (select u.attempt from suspended u where r.status is null and u.env = r.env and u.run_id = r.id), r.attempt) as attempt, -- the number of the latest attempt; 0 before the first
  r.tags as tags, -- the tags; null for none
  r.machine as machine, -- the requested [machine](machines.md)
  r.region as region, -- the region that the trigger named
  r.priority_ms as priority_ms, -- the priority in milliseconds
  r.is_test as is_test, -- whether it is a test
  r.parent_id as parent_run_id, -- the run that triggered it
  r.root_id as root_run_id, -- the first run of the tree
  r.depth::int as depth, -- the number of runs above it
  r.schedule_id as schedule_id, -- the schedule that created it
  r.batch_id as batch_id, -- the batch that it belongs to
  r.replay_of as replay_of, -- the run that it repeats
  (select f.group_id from error_fingerprints f where f.id = r.error_fingerprint_id) as error_id, -- the error group of the failure
  r.created_at as created_at, -- when it was created
  r.delayed_until as delayed_until, -- the end of its delay
  coalesce(r.started_at,
    (select l.leased_at from leases l where r.status is null and l.env = r.env and l.run_id = r.id)) as started_at, -- the start of the first attempt
  r.finished_at as finished_at, -- when it ended; null until then
  r.duration_ms as duration_ms, -- the duration of its attempts, without waits
  r.erased_at as erased_at -- when its data was [erased](retention.md)
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join runs r on r.env = i.id;

create or replace view millrace_v1.attempts with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  a.run_id as run_id, -- the run
  a.number as attempt, -- the number of the attempt; the same again after `LOST`, `RETURNED` and `DETACHED`
  a.status as status, -- `EXECUTING`, `WAITING`, `FAILED` (followed by a retry), `LOST`, `RETURNED`, `DETACHED`, or the final status of the run
  (select v.version from versions v where v.id = a.version_id) as version, -- the version that it executed
  (select n.runner_id from runner_names n where n.no = a.runner_no) as runner, -- the name of the runner
  (select n.host from runner_names n where n.no = a.runner_no) as host, -- the host of the runner
  a.started_at as started_at, -- when its code started, or last continued after a wait
  a.ended_at as ended_at, -- when it ended; null until then
  a.active_ms as duration_ms, -- its duration without waits; null until it ends
  a.due as retry_at, -- when the retry was due
  (select f.group_id from error_fingerprints f where f.id = a.error_fingerprint_id) as error_id -- the error group of the failure
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
cross join lateral (
  select x.run_id, x.number, x.outcome as status, x.version_id, x.runner_no, x.started_at, x.ended_at, x.active_ms, x.due, x.error_fingerprint_id
    from attempts x where x.env = i.id
  union all
  select x.run_id, x.attempt, 'EXECUTING', x.version_id, x.runner_no,
         coalesce((select r.last_started_at from runs r where r.env = x.env and r.id = x.run_id), x.leased_at), null, null, null, null
    from leases x where x.env = i.id
  union all
  select x.run_id, x.attempt, 'WAITING', x.version_id, x.runner_no,
         coalesce((select r.last_started_at from runs r where r.env = x.env and r.id = x.run_id), x.since), null, x.active_ms, null, null
    from suspended x where x.env = i.id and x.runner_id is not null
  union all
  select r.id, r.attempt, r.status, r.version_id, r.last_runner_no,
         coalesce(r.last_started_at, r.finished_at - make_interval(secs => c.ms / 1000.0)), r.finished_at, c.ms, null, r.error_fingerprint_id
    from runs r
   cross join lateral (
     select greatest(0, r.duration_ms - coalesce(sum(x.active_ms), 0))::bigint as ms
       from attempts x where x.env = r.env and x.run_id = r.id and x.outcome = 'FAILED') c
   where r.env = i.id and r.status is not null and r.last_runner_no is not null) a;

create or replace view millrace_v1.steps with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  s.run_id as run_id, -- the run
  s.name as step, -- the name of the [step](steps.md)
  s.kind as kind, -- `RUN`, `SLEEP`, `EVENT`, `TRIGGER` or `TRIGGER_AND_WAIT`
  s.status as status, -- `COMPLETED` or `FAILED`
  s.seq as position, -- its position among the steps of the run
  s.attempt as attempt, -- the attempt that executed it
  s.tries as tries, -- how often it was tried
  s.started_at as started_at, -- when it started
  s.ended_at as ended_at -- when it ended
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join run_steps s on s.env = i.id;

create or replace view millrace_v1.tasks with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  t.id as task, -- the task
  v.version as version, -- a version that has the task
  coalesce(c.version_id = v.id, false) as is_current -- whether this version is the current one
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join versions v on v.env = i.id
join tasks t on t.version_id = v.id
left join current_versions c on c.env = i.id;

create or replace view millrace_v1.queues with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  q.name as queue, -- the name; `task/<id>` is a task's own
  coalesce(q.concurrency_override, q.concurrency_limit) as concurrency_limit, -- the limit in effect; null for none
  q.concurrency_override is not null as is_overridden, -- whether the limit was set by a user
  q.paused as is_paused, -- whether no runs start
  q.weight as weight, -- its [weight](fairness.md)
  (select count(*) from leases l where l.queue_id = q.id) as executing, -- the number of executing runs
  (select count(*) from lanes n join queued w on w.lane_id = n.id where n.queue_id = q.id) as waiting, -- the number of runs that wait for a slot
  q.created_at as created_at -- when it was created
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join queues q on q.env = i.id and q.is_declared;

create or replace view millrace_v1.schedules with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  s.id as schedule_id, -- the id, `sched_…`
  s.type as type, -- `DECLARATIVE` or `IMPERATIVE`
  s.task as task, -- the task
  s.cron as cron, -- the expression
  s.timezone as timezone, -- its time zone
  s.active as is_active, -- whether it fires
  s.next_nominal as next_at, -- the next tick; null for none
  s.last_nominal as last_at, -- the last tick that created a run
  s.last_run_id as last_run_id, -- the run of that tick
  s.created_at as created_at -- when it was created
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join schedules s on s.env = i.id and not s.set_aside;

create or replace view millrace_v1.schedule_ticks with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  t.schedule_id as schedule_id, -- the schedule
  t.nominal_at as nominal_at, -- the time of the tick
  t.due_at as due_at, -- when its run was due, within the window of the schedule
  t.fired_at as fired_at, -- when its run was created
  t.backfilled as is_backfill, -- whether a backfill created it
  t.run_id as run_id -- the run
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join schedule_ticks t on t.env = i.id;

create or replace view millrace_v1.errors with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  g.id as error_id, -- the id of the group, `error_…`
  g.task as task, -- the task
  g.type as type, -- the class of the error
  g.message as message, -- the [normalized](error-grouping.md) message
  g.status as status, -- `unresolved`, `resolved` or `ignored`
  g.total as occurrences, -- all occurrences
  g.first_seen as first_seen_at, -- the first occurrence
  g.last_seen as last_seen_at, -- the last occurrence
  g.resolved_at as resolved_at, -- when it was resolved
  g.ignored_at as ignored_at -- when it was ignored
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join error_groups g on g.env = i.id and g.merged_into is null;

create or replace view millrace_v1.error_days with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  f.group_id as error_id, -- the group
  d.at as day, -- the beginning of the UTC day
  sum(d.n)::bigint as occurrences -- the occurrences of the day
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join error_days d on d.env = i.id
join error_fingerprints f on f.id = d.fingerprint_id
group by 1, 2, 3;

create or replace view millrace_v1.deployments with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  v.public_id as deployment_id, -- the id, `deployment_…`
  v.version as version, -- the version
  v.state as state, -- `uploading`, `ready`, `failed` or `archived`
  coalesce(c.version_id = v.id, false) as is_current, -- whether it is the current version
  case when c.canary_id = v.id then c.canary_percent end as canary_percent, -- the share of runs of a [canary](deployments.md)
  v.is_uploaded as is_uploaded, -- false for a version that a runner registered from its folder
  v.bytes as bytes, -- the compressed size of its files
  v.deployed_by as deployed_by, -- the key or user that deployed it
  v.created_at as created_at, -- when it was created
  v.promoted_at as promoted_at -- when it first became current
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join versions v on v.env = i.id
left join current_versions c on c.env = i.id;

create or replace view millrace_v1.batches with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  b.id as batch_id, -- the id, `batch_…`
  b.run_count as run_count, -- the number of its items
  b.received as received, -- the number of received items
  b.parent_run_id as parent_run_id, -- the run that created it
  b.created_at as created_at, -- when it was opened
  b.sealed_at as sealed_at, -- when the last item arrived and its runs could start
  b.aborted_at as aborted_at -- when it was given up because items were missing
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join batches b on b.env = i.id;

create or replace view millrace_v1.run_counts with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  s.width as minutes, -- the width of the period: 1, 5, 60, 360 or 1440; add up one width only
  case left(s.series, 1) when 'a' then 'all' when 't' then 'task' when 'q' then 'queue' else 'version' end as dimension, -- `all`, `task`, `queue` or `version`
  nullif(substr(s.series, 3), '') as name, -- the task, queue or version; null for `all`
  s.at as at, -- the beginning of the period
  s.triggered as triggered, -- created runs
  s.completed as completed, -- runs that ended with this status, like the next six
  s.failed as failed, -- ended as `FAILED`
  s.crashed as crashed, -- ended as `CRASHED`
  s.system_failure as system_failure, -- ended as `SYSTEM_FAILURE`
  s.timed_out as timed_out, -- ended as `TIMED_OUT`
  s.canceled as canceled, -- ended as `CANCELED`
  s.expired as expired, -- ended as `EXPIRED`
  s.retried as retried, -- failed attempts that were retried
  coalesce((select sum(n) from unnest(s.waited) as n), 0)::bigint as waits, -- attempts whose time in the queue was measured
  s.waited_ms as wait_ms, -- the sum of these times
  coalesce((select sum(n) from unnest(s.lasted) as n), 0)::bigint as durations, -- attempts whose duration was measured
  s.lasted_ms as duration_ms -- the sum of these durations
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join run_stats s on s.env = i.id and left(s.series, 1) in ('a', 't', 'q', 'v');

create or replace view millrace_v1.model_calls with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  c.run_id as run_id, -- the run
  c.attempt as attempt, -- the attempt
  c.at as at, -- when its span arrived
  c.provider as provider, -- the provider, or `unknown`
  c.model as model, -- the model, or `unknown`
  c.input_tokens as input_tokens, -- all input tokens
  c.cached_tokens as cached_input_tokens, -- of these, read from the cache
  c.cache_write_tokens as cache_write_tokens, -- of these, written to the cache
  c.output_tokens as output_tokens, -- output tokens
  trim_scale(c.cost * 0.000000000001) as cost -- the cost in US dollars; null if the model had no price
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join model_calls c on c.env = i.id;

create or replace view millrace_v1.model_days with (security_barrier) as select
  e.environment_id as environment_id, -- the environment
  d.at as day, -- the beginning of the UTC day
  d.task as task, -- the task
  d.provider as provider, -- the provider, or `unknown`
  d.model as model, -- the model, or `unknown`
  d.calls as calls, -- calls
  d.unpriced_calls as unpriced_calls, -- calls without a price
  d.input_tokens as input_tokens, -- all input tokens
  d.cached_tokens as cached_input_tokens, -- of these, read from the cache
  d.cache_write_tokens as cache_write_tokens, -- of these, written to the cache
  d.output_tokens as output_tokens, -- output tokens
  trim_scale(d.cost * 0.000000000001) as cost -- the cost in US dollars, without the calls that have no price
from millrace_v1.environments e
join environments i on i.public_id = e.environment_id
join model_days d on d.env = i.id;
