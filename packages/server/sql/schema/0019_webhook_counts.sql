-- Counts of webhooks: rejected requests by reason, and repeated ones.

-- Rejected requests by hour and error code, for two days.
create table webhook_rejections (
  env int not null,
  webhook text collate "C" not null,
  hour timestamptz not null,
  code text collate "C" not null,
  n bigint not null,
  last_at timestamptz not null,
  primary key (env, webhook, hour, code)
) with (fillfactor = 70);

-- Later requests with the same id, which started no run; counted with a delay.
alter table webhook_deliveries add column repeated int not null default 0;

create index webhook_deliveries_by_webhook on webhook_deliveries (env, webhook, created_at);
