-- Usage of language models by runs, and its cost (decision 45). The amounts come from spans that follow the conventions of OpenTelemetry for
-- generative AI, or have the attributes of the AI SDK.
--
-- Prices are millionths of a US dollar for a million tokens. A token then costs that many millionths of a millionth of a dollar (1e-12), so
-- `tokens * price` is an exact cost.

-- Prices of a project. They take precedence over the default prices of the release.
create table model_prices (
  project_id int not null references projects on delete cascade,
  -- the name of a model; a final `*` stands for any rest
  model text collate "C" not null check (length(model) between 1 and 128),
  input bigint not null check (input >= 0),
  -- tokens that the provider read from its cache, and wrote to it; null: as `input`
  cached_input bigint check (cached_input >= 0),
  cache_write bigint check (cache_write >= 0),
  output bigint not null check (output >= 0),
  updated_at timestamptz not null,
  primary key (project_id, model)
);

-- A call of a model by a run. The key is that of the span, so a span that arrives twice is counted once.
create table model_calls (
  env int not null,
  run_id text collate "C" not null,
  span_id text collate "C" not null,
  attempt int not null,
  -- when it arrived
  at timestamptz not null,
  provider text not null,
  model text not null,
  -- all input tokens, including cached ones
  input_tokens int not null,
  cached_tokens int not null,
  cache_write_tokens int not null,
  output_tokens int not null,
  -- at the prices when it arrived; null if its model had no price
  cost numeric,
  primary key (env, run_id, span_id)
);
-- For usage by tag, which is in the runs.
create index model_calls_by_time on model_calls (env, at);

-- Roll-ups: the calls of a task in a UTC day. They remain when the runs are deleted.
create table model_days (
  env int not null,
  at timestamptz not null,
  task text collate "C" not null,
  provider text collate "C" not null,
  model text collate "C" not null,
  calls bigint not null,
  -- calls of a model without a price
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  cost numeric not null,
  primary key (env, at, task, provider, model)
) with (fillfactor = 80);
