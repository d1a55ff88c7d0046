-- The id of the `.in` channel of a session, given one of its names. The server assigns this id to a channel of that name, so the session need
-- not exist yet.
--
-- Locks: none.
-- Callers: awaited_channel.
create or replace function session_messages(p_env int, p_session text) returns uuid language sql stable as $$
  select substr(encode(sha256(convert_to(p_env || '/s/in//' || coalesce(
           (select coalesce(s.external_id, s.id) from sessions s where s.env = p_env and s.id = p_session), p_session), 'UTF8')), 'hex'), 1, 32)::uuid
$$;
