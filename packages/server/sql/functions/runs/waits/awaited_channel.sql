-- The id of the channel whose messages a run waits for, by one of its names: an input stream of the run, or the `.in` channel of a session.
-- Session names cannot have the form of the first.
--
-- Locks: none.
-- Callers: begin_waits.
create or replace function awaited_channel(p_env int, p_run text, p_target text) returns uuid language sql stable as $$
  select case when starts_with(p_target, 'session_/input/')
              then substr(encode(sha256(convert_to(
                     p_env || '/i/' || p_run || '/' || substr(p_target, 16), 'UTF8')), 'hex'), 1, 32)::uuid
              else session_messages(p_env, p_target) end
$$;
