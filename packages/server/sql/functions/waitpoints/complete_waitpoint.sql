-- Completes a waiting token without a record of who completed it: as complete_token.
--
-- Locks: as complete_token.
-- Callers: servers of the previous release.
create or replace function complete_waitpoint(p_at timestamptz, p_env int, p_id text, p_output text, p_output_type text) returns text
language sql as $$
  select complete_token(p_at, p_env, p_id, p_output, p_output_type, null)
$$;
