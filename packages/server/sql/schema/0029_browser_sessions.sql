-- People who look through a browser: their sessions, the links that open one, and passwords.

-- A session is found by the digest of its cookie. Nothing else of the cookie is stored.
create table browser_sessions (
  id text collate "C" primary key check (id like 'browser\_%'),
  user_id text collate "C" not null references users on delete cascade,
  digest bytea not null unique check (length(digest) = 32),
  -- how the user logged in
  method text not null check (method in ('link', 'token', 'approval', 'password')),
  -- the personal access token behind it, with which it ends; null after a login by password
  token_id text collate "C" references personal_access_tokens on delete cascade,
  -- as the browser says
  user_agent text check (length(user_agent) <= 256),
  address text not null,
  created_at timestamptz not null default now(),
  -- it ends twelve hours after this
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  check ((token_id is null) = (method = 'password'))
);
create index browser_sessions_by_user on browser_sessions (user_id);
create index browser_sessions_by_token on browser_sessions (token_id) where token_id is not null;
create index browser_sessions_by_expiry on browser_sessions (expires_at);

-- One-time links. The row of a link is deleted when it is used, so two browsers cannot both use it.
create table browser_links (
  digest bytea primary key check (length(digest) = 32),
  -- the token with which it was made, and which the session ends with
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

-- People type their address in any case.
create index users_by_address on users (lower(email)) where email is not null;
