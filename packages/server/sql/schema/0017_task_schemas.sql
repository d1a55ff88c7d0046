-- Keys that may deploy and do nothing else. Until now they could also roll back, archive, move runs, stop runners and change variables.
update secret_keys set scopes = '{read:deployments,deploy:deployments,read:branches,deploy:branches,read:envvars}' where preset = 'deploy-only';

-- The JSON Schema of the payload of a task, if its library could write one. Not `jsonb`: the order of properties is that of the form.
alter table tasks
  add column payload_schema json,
  -- why a declared schema has none, for people
  add column payload_schema_note text,
  add constraint tasks_payload_schema check (payload_schema is null or payload_schema_note is null);
