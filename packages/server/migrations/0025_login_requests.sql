-- Machines that ask to be let in. A machine is known by its device code, which only it has; its user approves by the user code, which people
-- can type. Rows go ten minutes after they came.
create table login_requests (
  device_digest bytea primary key check (length(device_digest) = 32),
  user_code text collate "C" not null unique,
  -- as the machine says
  host_name text check (length(host_name) <= 255),
  user_agent text check (length(user_agent) <= 255),
  -- of the peer, and what proxies say whom they asked for
  address text not null,
  forwarded_for text check (length(forwarded_for) <= 255),
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  polled_at timestamptz,
  interval_seconds int not null,
  -- by which it was approved
  token_id text collate "C" references personal_access_tokens on delete cascade,
  -- of the token to be made
  name text check (length(name) between 1 and 64),
  token_expires_at timestamptz,
  -- when the token was made and given out, once
  fetched_at timestamptz check (fetched_at is null or token_id is not null),
  check ((token_id is null) = (name is null))
);
create index login_requests_by_expiry on login_requests (expires_at);
create index login_requests_by_token on login_requests (token_id) where token_id is not null;

drop table login_approvals;
