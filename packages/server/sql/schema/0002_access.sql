-- Credentials, logins and the audit log. Texts marked `sealed` are encrypted with the master key (auth/seal.ts).

-- A key is found by the SHA-256 of its text after the prefix, so the `svc_` and `tr_` forms are the same key. The text itself is stored
-- sealed, because tokens that clients sign with it must be verified.
create table secret_keys (
  id text collate "C" primary key,
  environment_id int not null references environments on delete cascade,
  digest bytea not null unique check (length(digest) = 32),
  sealed bytea not null,
  last_four text not null,
  name text not null check (length(name) between 1 and 64),
  scopes text[] not null default '{admin}',
  -- null for keys whose scopes do not match a preset
  preset text,
  -- the tasks that the key is restricted to; null means no restriction
  tasks text[],
  created_by text collate "C" references users on delete set null,
  -- the later time, for a rotation that waited for another one
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  -- when another key replaced this one; it stays valid until the overlap ends
  rotated_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index secret_keys_by_environment on secret_keys (environment_id);

-- Keys that sign the public tokens created by the server. They belong to the root environment; its branches share them.
create table signing_keys (
  id text collate "C" primary key,
  environment_id int not null references environments on delete cascade,
  sealed bytea not null,
  -- null for the current signing key; a rotated key verifies until this time
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index signing_keys_current on signing_keys (environment_id) where expires_at is null;
create index signing_keys_by_environment on signing_keys (environment_id);

create table personal_access_tokens (
  id text collate "C" primary key,
  user_id text collate "C" not null references users on delete cascade,
  digest bytea not null unique check (length(digest) = 32),
  -- only for the token of the first start, which development mode shows again
  sealed bytea,
  last_four text not null,
  name text not null check (length(name) between 1 and 64),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index personal_access_tokens_by_user on personal_access_tokens (user_id);

-- Used one-time tokens, and what each one created.
create table one_time_uses (
  digest text collate "C" primary key,
  env int not null,
  created text not null,
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index one_time_uses_by_expiry on one_time_uses (expires_at);

-- A browser session is found by the digest of its cookie. The cookie itself is not stored.
create table browser_sessions (
  id text collate "C" primary key check (id like 'browser\_%'),
  user_id text collate "C" not null references users on delete cascade,
  digest bytea not null unique check (length(digest) = 32),
  -- how the user logged in
  method text not null check (method in ('link', 'token', 'approval', 'password', 'oidc')),
  -- The personal access token behind the session; the session ends with it. Null after a login with a password or an identity provider, and
  -- after an approval in a browser whose session had no token.
  token_id text collate "C" references personal_access_tokens on delete cascade,
  -- as reported by the browser
  user_agent text check (length(user_agent) <= 256),
  address text not null,
  created_at timestamptz not null default now(),
  -- the session ends twelve hours after this time
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  check (case when method in ('password', 'oidc') then token_id is null else token_id is not null or method = 'approval' end)
);
create index browser_sessions_by_user on browser_sessions (user_id);
create index browser_sessions_by_token on browser_sessions (token_id) where token_id is not null;
create index browser_sessions_by_expiry on browser_sessions (expires_at);

-- One-time links that open a session. A link's row is deleted when the link is used, so two browsers cannot both use it.
create table browser_links (
  digest bytea primary key check (length(digest) = 32),
  -- the token that created the link; the session ends with it
  token_id text collate "C" not null references personal_access_tokens on delete cascade,
  expires_at timestamptz not null
);
create index browser_links_by_expiry on browser_links (expires_at);
create index browser_links_by_token on browser_links (token_id);

-- `hash` is scrypt with its parameters and salt, in the format of PHC strings.
create table passwords (
  user_id text collate "C" primary key references users on delete cascade,
  hash text not null check (hash like '$scrypt$%'),
  set_at timestamptz not null default now()
);

-- Users who log in through the identity provider of their organization (OpenID Connect). A user is identified by issuer and subject only, never
-- by an e-mail address.
create table oidc_identities (
  id text collate "C" primary key check (id like 'oidc\_%'),
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null unique references users on delete cascade,
  organization_id text collate "C" not null references organizations on delete cascade,
  -- used to check again whether the user may still log in; null after the provider rejected it
  sealed_refresh_token bytea,
  -- when the provider last confirmed that the user may log in
  confirmed_at timestamptz not null default now(),
  -- Providers end the login if a refresh token is used twice, so only one process at a time may refresh, until `claimed_until`.
  claimed_by text,
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  unique (issuer, subject),
  check ((claimed_by is null) = (claimed_until is null))
);
create index oidc_identities_by_organization on oidc_identities (organization_id);

-- Devices requesting a login. A device is identified by its device code, which only the device has. The user approves with the user code, which
-- is short enough to type. Rows are deleted ten minutes after creation.
create table login_requests (
  device_digest bytea primary key check (length(device_digest) = 32),
  user_code text collate "C" not null unique,
  -- as reported by the device
  host_name text check (length(host_name) <= 255),
  user_agent text check (length(user_agent) <= 255),
  -- the address of the peer, and the client address that proxies report
  address text not null,
  forwarded_for text check (length(forwarded_for) <= 255),
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  polled_at timestamptz,
  interval_seconds int not null,
  -- The approver: a token, or a browser session that was opened without one.
  token_id text collate "C" references personal_access_tokens on delete cascade,
  session_id text collate "C" references browser_sessions on delete cascade,
  -- the name of the token to be created
  name text check (length(name) between 1 and 64),
  token_expires_at timestamptz,
  -- when the token was created and returned, which happens once
  fetched_at timestamptz,
  constraint login_requests_fetched_check check (fetched_at is null or name is not null),
  constraint login_requests_approval_check check (num_nonnulls(token_id, session_id) = case when name is null then 0 else 1 end)
);
create index login_requests_by_expiry on login_requests (expires_at);
create index login_requests_by_token on login_requests (token_id) where token_id is not null;
create index login_requests_by_session on login_requests (session_id) where session_id is not null;

-- One sealed text whose plaintext is known, so that a wrong master key is detected at startup, before it can cause damage.
create table master_key_check (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null,
  created_at timestamptz not null default now()
);

-- Administrative actions. The rows have no foreign keys, so that they outlive their subjects. They never contain secrets.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  organization_id text collate "C" not null,
  project_ref text,
  environment text,
  act text not null,
  actor_kind text not null check (actor_kind in ('user', 'secretKey', 'invitation', 'provider')),
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
create index audit_log_by_target on audit_log (organization_id, target, id);
