-- Environment variables and their history. Values are sealed (auth/seal.ts) for the place `variables:<env>:<name>`, the same in both
-- tables, so that a rollback puts the very bytes back.

-- One counter of revisions for an environment and its branches, so that one number says what a branch saw of both.
create table variable_sets (
  root int primary key references environments on delete cascade,
  revision int not null,
  -- the oldest revision whose state can still be told
  oldest int not null default 0
);

create table variables (
  env int not null references environments on delete cascade,
  name text collate "C" not null check (length(name) between 1 and 255),
  sealed bytea not null,
  is_secret boolean not null,
  -- the revision that set it
  revision int not null,
  updated_at timestamptz not null,
  primary key (env, name)
);

create table variable_revisions (
  root int not null references variable_sets on delete cascade,
  revision int not null,
  -- whose variables changed: the root's own or a branch's
  env int not null references environments on delete cascade,
  at timestamptz not null,
  act text not null check (act in ('set', 'import', 'delete', 'rollback')),
  user_id text collate "C",
  credential_id text collate "C" not null,
  source jsonb,
  restored int,
  primary key (root, revision)
);
create index variable_revisions_by_env on variable_revisions (env, revision);

-- What a name became with a revision; no sealed value when it was removed.
create table variable_changes (
  env int not null references environments on delete cascade,
  name text collate "C" not null,
  revision int not null,
  change text not null check (change in ('added', 'changed', 'removed')),
  is_secret boolean not null,
  sealed bytea,
  primary key (env, name, revision),
  check ((change = 'removed') = (sealed is null))
);
create index variable_changes_by_revision on variable_changes (env, revision);

-- Which revision of the variables the last attempt ran with; null when there was none.
alter table runs add column env_revision int;
