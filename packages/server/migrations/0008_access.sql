-- Who may do what: keys with presets, keys that sign tokens, uses of one-time tokens, branches, invitations, the audit log.

-- Signs the public tokens that the server makes. Of an environment itself; its branches share it.
create table signing_keys (
  id text collate "C" primary key,
  environment_id int not null references environments on delete cascade,
  sealed bytea not null,
  -- null for the one that signs; a rotated one still verifies until then
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index signing_keys_current on signing_keys (environment_id) where expires_at is null;
create index signing_keys_by_environment on signing_keys (environment_id);

alter table secret_keys
  -- null for keys whose scopes are no preset's
  add preset text,
  add tasks text[],
  add created_by text collate "C" references users on delete set null,
  -- another key took its place; it is good until its overlap ends
  add rotated_at timestamptz;
update secret_keys set preset = 'full' where scopes = '{admin}';

-- A one-time token that was used: what it created, and when nobody needs to know any more.
create table one_time_uses (
  digest text collate "C" primary key,
  env int not null,
  created text not null,
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index one_time_uses_by_expiry on one_time_uses (expires_at);

-- An archived branch gives its name back.
alter table environments
  add git jsonb,
  add updated_at timestamptz not null default now(),
  drop constraint environments_project_id_kind_branch_key;
create unique index environments_by_name on environments (project_id, kind, branch) nulls not distinct where archived_at is null;
create index environments_by_parent on environments (parent_id) where parent_id is not null;

create table invitations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  digest bytea not null unique check (length(digest) = 32),
  invited_by text collate "C" references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- accepted or taken back
  ended_at timestamptz
);
create index invitations_by_organization on invitations (organization_id) where ended_at is null;

-- A code by which a machine asked to be let in, that a user approved. Nothing is kept of codes that nobody approves.
create table login_approvals (
  digest bytea primary key check (length(digest) = 32),
  -- by which it was approved
  token_id text collate "C" not null references personal_access_tokens on delete cascade,
  -- of the token to be made
  name text not null check (length(name) between 1 and 64),
  expires_at timestamptz not null,
  -- when the token was made and given out, once
  fetched_at timestamptz
);

-- Administrative acts. Not tied to what they are about, so that they outlive it. Never a secret in it.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  organization_id text collate "C" not null,
  project_ref text,
  environment text,
  act text not null,
  actor_kind text not null check (actor_kind in ('user', 'secretKey', 'invitation')),
  actor_id text not null,
  credential_id text,
  target text not null,
  old jsonb,
  new jsonb,
  address text not null,
  user_agent text,
  request_id text not null
);
create index audit_log_by_organization on audit_log (organization_id, id);
create index audit_log_by_time on audit_log (at);
