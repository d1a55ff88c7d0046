-- The W3C trace context of the caller of a run's trigger.
alter table runs add column traceparent text;

-- Lines of all runs of an environment, in the order of their arrival.
create index run_logs_by_env on run_logs (env, id);

-- What searches of lines skip. A row says which three-letter groups occur in some thousand consecutive lines of an environment, as a Bloom
-- filter with one hash. It is written in the background, once the lines are some seconds old. An index of trigrams would multiply the cost
-- of storing a line.
create table log_blocks (
  env int not null,
  first_id bigint not null,
  last_id bigint not null,
  at_from timestamptz not null,
  at_to timestamptz not null,
  terms bytea not null,
  primary key (env, last_id)
);
-- Compressing it would cost more than reading it.
alter table log_blocks alter column terms set storage external;
