-- Users who log in with the identity provider of their organization (OpenID Connect).

-- A user is found by issuer and subject alone, never by an e-mail address.
create table oidc_identities (
  id text collate "C" primary key check (id like 'oidc\_%'),
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null unique references users on delete cascade,
  organization_id text collate "C" not null references organizations on delete cascade,
  -- with which the server asks again whether the user may still log in; null once the provider refused them
  sealed_refresh_token bytea,
  -- when the provider last confirmed the user
  confirmed_at timestamptz not null default now(),
  -- Providers end the login if a refresh token is used twice. So one process at a time asks, until `asked_until`.
  asked_by text,
  asked_until timestamptz,
  created_at timestamptz not null default now(),
  unique (issuer, subject),
  check ((asked_by is null) = (asked_until is null))
);
create index oidc_identities_by_organization on oidc_identities (organization_id);

-- Such a session has no token behind it.
alter table browser_sessions drop constraint browser_sessions_method_check;
alter table browser_sessions add constraint browser_sessions_method_check
  check (method in ('link', 'token', 'approval', 'password', 'oidc'));
alter table browser_sessions drop constraint browser_sessions_check;
alter table browser_sessions add constraint browser_sessions_check
  check (case when method in ('password', 'oidc') then token_id is null else token_id is not null or method = 'approval' end);

-- A login may also be approved in a browser. A session that was opened with a token approves with that token.
alter table login_requests add column session_id text collate "C" references browser_sessions on delete cascade;
create index login_requests_by_session on login_requests (session_id) where session_id is not null;
alter table login_requests drop constraint login_requests_check;
alter table login_requests drop constraint login_requests_check1;
alter table login_requests add constraint login_requests_fetched_check check (fetched_at is null or name is not null);
alter table login_requests add constraint login_requests_approval_check
  check (num_nonnulls(token_id, session_id) = case when name is null then 0 else 1 end);

-- The provider adds, changes and removes members. `not valid`, because the table may be large; rows that are written are checked.
alter table audit_log drop constraint audit_log_actor_kind_check;
alter table audit_log add constraint audit_log_actor_kind_check
  check (actor_kind in ('user', 'secretKey', 'invitation', 'provider')) not valid;
