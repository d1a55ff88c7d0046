-- Environment variables and their history. A value is sealed (auth/seal.ts) with the context `variables:<env>:<name>`. The context is
-- the same in both tables, so a rollback restores the same bytes.

-- One revision counter for an environment and its branches, so that one number identifies a branch's view of both.
create table variable_sets (
  root int primary key references environments on delete cascade,
  revision int not null,
  -- the oldest revision whose state can still be reconstructed
  oldest int not null default 0
);

create table variables (
  env int not null references environments on delete cascade,
  name text collate "C" not null check (length(name) between 1 and 255),
  sealed bytea not null,
  is_secret boolean not null,
  -- the revision that set the value
  revision int not null,
  updated_at timestamptz not null,
  primary key (env, name)
);

create table variable_revisions (
  root int not null references variable_sets on delete cascade,
  revision int not null,
  -- the environment whose variables changed: the root or a branch
  env int not null references environments on delete cascade,
  at timestamptz not null,
  act text not null check (act in ('set', 'import', 'delete', 'rollback')),
  user_id text collate "C",
  credential_id text collate "C" not null,
  source jsonb,
  -- the revision that a rollback restored
  restored int,
  primary key (root, revision)
);
create index variable_revisions_by_env on variable_revisions (env, revision);

-- The change of a name in a revision. A removal has no sealed value.
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
