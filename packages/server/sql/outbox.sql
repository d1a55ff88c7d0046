-- The Millrace outbox: lets transactions of this database trigger runs. See docs/transactions.md.
--
-- `millrace outbox install` runs this file, and `millrace outbox sql` prints it for use in your own migrations. It can be run again.
-- Everything is in the schema `millrace`. Grants determine which roles may trigger runs:
--
--   grant usage on schema millrace to app;
--   grant execute on function millrace.trigger(text, jsonb, jsonb) to app;

create schema if not exists millrace;

-- One row: the environment that the runs of this outbox belong to.
create table if not exists millrace.outbox_settings (
  only_row boolean primary key default true check (only_row),
  -- the public id of the environment
  environment text not null,
  -- Whether a commit wakes the delivering process. PostgreSQL serializes commits that send notifications. Without it, rows wait for the
  -- next poll, at most a second.
  notify boolean not null default true
);
insert into millrace.outbox_settings (environment) values ('{environment}') on conflict do nothing;

create sequence if not exists millrace.outbox_seq;

-- A run that a committed transaction triggered and that has not been delivered yet. Delivered rows are deleted.
create table if not exists millrace.outbox (
  -- the id of the run
  id text collate "C" primary key,
  seq bigint not null default nextval('millrace.outbox_seq'),
  task text not null,
  -- null for none
  payload jsonb,
  options jsonb not null default '{}',
  bytes int not null,
  created_at timestamptz not null default clock_timestamp(),
  -- The row cannot be delivered; `error` contains the reason. Set both to null to try it again.
  failed_at timestamptz,
  error text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
alter sequence millrace.outbox_seq owned by millrace.outbox.seq;
-- in delivery order
create index if not exists outbox_waiting on millrace.outbox (seq) where failed_at is null;

-- Triggers a run of a task when the transaction commits and returns the id of the run. `options` has the members of the API's trigger
-- options. It runs with the rights of its owner, so callers need no privileges on the tables.
create or replace function millrace.trigger(task text, payload jsonb, options jsonb default '{}') returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  letters constant text := '0123456789abcdefghijklmnopqrstuvwxyz';
  random constant text := replace(gen_random_uuid()::text, '-', '');
  seq constant bigint := nextval('millrace.outbox_seq');
  size constant int := octet_length(coalesce(payload::text, '')) + octet_length(coalesce(options::text, ''));
  -- Four numbers as base-36 digits: the milliseconds, a sequence within the millisecond, and two random numbers (v4 fixes digits 13 and 17).
  numbers bigint[];
  widths constant int[] := '{8,3,6,7}';
  n bigint;
  digits text;
  id text := 'run_';
begin
  if coalesce(length(task), 0) not between 1 and 128 then
    raise exception 'millrace.trigger: the first argument must be a task id of 1 to 128 characters' using errcode = '22023';
  end if;
  if options is not null and jsonb_typeof(options) not in ('object', 'null') then
    raise exception 'millrace.trigger: options must be a JSON object, such as {"delay": "10m"}' using errcode = '22023';
  end if;
  if size > 3000000 then
    raise exception 'millrace.trigger: payload and options have % bytes; at most 3,000,000 are allowed. Store the data and pass a reference', size
      using errcode = '54000';
  end if;
  numbers := array[
    floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
    seq % 46656,
    ('x' || substr(random, 1, 12))::bit(48)::bigint % 2176782336,
    ('x' || substr(random, 18, 15))::bit(60)::bigint % 78364164096
  ];
  for i in 1..4 loop
    n := numbers[i];
    digits := '';
    for j in 1..widths[i] loop
      digits := substr(letters, (n % 36)::int + 1, 1) || digits;
      n := n / 36;
    end loop;
    id := id || digits;
  end loop;
  insert into millrace.outbox (id, seq, task, payload, options, bytes)
  values (id, seq, task, payload, coalesce(nullif(options, 'null'), '{}'), size);
  perform pg_notify('millrace', '{"wakes":[{"kind":"outbox"}]}') from millrace.outbox_settings s where s.notify;
  return id;
end
$$;
revoke all on schema millrace from public;
revoke all on all tables in schema millrace from public;
revoke all on function millrace.trigger(text, jsonb, jsonb) from public;
