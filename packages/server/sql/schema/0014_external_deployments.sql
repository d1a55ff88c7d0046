-- Runs that wait for the deployment that carries an id of the caller's.

-- as the trigger gave it
alter table runs add column external_deployment_id text;
-- set for a run that waits for this deployment, and not for a version with its task
alter table pending_version add column external_id text;
create index pending_version_by_external_id on pending_version (external_id, env, run_id) where external_id is not null;
