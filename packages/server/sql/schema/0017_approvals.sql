-- Approvals: the form of a token, the runs that waited for it, and who completed it.

alter table waitpoints
  -- JSON Schema of the value, as JSON text: the dashboard builds its form from it
  add column schema text,
  -- JSON text such as {"type":"user","id":"user_…"}; null if it timed out, or was completed before this column existed
  add column completed_by text;

-- Finds the runs of a token, also after the token has ended.
create index waits_by_token on waits (target, run_id) where kind = 'TOKEN';
