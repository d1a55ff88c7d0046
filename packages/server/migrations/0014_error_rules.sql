-- Rules of a project: errors that match go to a group of the rule's choosing, whatever their fingerprint.
create table error_rules (
  id text collate "C" primary key,
  project_id int not null references projects on delete cascade,
  -- the first one that matches counts
  position int not null,
  -- patterns; null for anything
  task text,
  type text,
  message text,
  group_key text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (num_nonnulls(task, type, message) > 0)
);
create index error_rules_by_project on error_rules (project_id, position);
