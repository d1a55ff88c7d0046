-- Deletes the records of deleted channels. With a foreign key, every append would have to look up the channel.
--
-- Locks: the segments and parts of the channels.
-- Callers: the trigger below.
create or replace function drop_channel_logs() returns trigger language plpgsql as $$
begin
  delete from channel_segments s using gone g where s.channel = g.id;
  delete from channel_parts p using gone g where p.channel = g.id;
  return null;
end $$;

create or replace trigger channel_logs after delete on channels referencing old table as gone
  for each statement execute function drop_channel_logs();
