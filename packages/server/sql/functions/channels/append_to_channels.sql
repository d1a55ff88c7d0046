-- Appends to any number of channels. A failed condition affects only its own channel: `state` contains the reason. For a part that is
-- already stored, the existing numbers are returned, and the other records of its channel must be resent.
--
-- Locks: channels by id.
-- Callers: channels/write-conditional.ts.
create or replace function append_to_channels(
  requested_at timestamptz,
  -- one element for each channel, in id order
  of_ids uuid[], of_counts int[], of_matches bigint[], of_fences text[], of_new_fences text[],
  -- one for each segment: the channel_index of its channel above and its distance from the first record
  seg_channels int[], seg_offsets int[], seg_counts int[], seg_bytes int[], seg_records text[],
  -- one for each part
  part_channels int[], part_offsets int[], part_counts int[], part_ids uuid[]
) returns table (channel_index int, state text, seq bigint, at timestamptz, part int, count int)
language plpgsql volatile as $$
begin
  -- Locked in one global order. The statements below see everything committed before these locks were granted.
  perform from channels c where c.id = any (of_ids) order by c.id for update;
  return query
  with known as (
    select q.ix, q.channel_index, k.seq, k.count
      from unnest(part_channels, part_ids) with ordinality as q (channel_index, id, ix)
      join channel_parts k on k.channel = of_ids[q.channel_index] and k.part = q.id
  ), judged as (
    select i.channel_index::int as channel_index, i.id, i.count, i.new_fence, c.next_seq, greatest(c.last_at, requested_at) as at,
           case when i.channel_index in (select k.channel_index from known k) then 'repeat'
                when c.id is null then 'missing'
                when c.closed_at is not null then 'closed'
                when c.expires_at <= requested_at then 'expired'
                when i.match <> c.next_seq then 'match'
                when i.fence <> coalesce(c.fence, '') then 'fence'
                else 'ok' end as state
      from unnest(of_ids, of_counts, of_matches, of_fences, of_new_fences) with ordinality
             as i (id, count, match, fence, new_fence, channel_index)
      left join channels c on c.id = i.id
  ), moved as (
    update channels c
       set next_seq = c.next_seq + j.count, last_at = j.at, fence = coalesce(j.new_fence, c.fence)
      from judged j where j.state = 'ok' and c.id = j.id
  ), written as (
    insert into channel_segments (channel, seq, count, bytes, at, records)
    select j.id, j.next_seq + s.distance, s.count, s.bytes, j.at, s.records
      from unnest(seg_channels, seg_offsets, seg_counts, seg_bytes, seg_records) as s (channel_index, distance, count, bytes, records)
      join judged j on j.channel_index = s.channel_index and j.state = 'ok'
  ), noted as (
    insert into channel_parts (channel, part, seq, count)
    select j.id, q.id, j.next_seq + q.distance, q.count
      from unnest(part_channels, part_offsets, part_counts, part_ids) as q (channel_index, distance, count, id)
      join judged j on j.channel_index = q.channel_index and j.state = 'ok'
  )
  select j.channel_index, j.state, j.next_seq, j.at, null::int, null::int from judged j
  union all
  select k.channel_index, 'part', k.seq, null, k.ix::int, k.count from known k;
end $$;
