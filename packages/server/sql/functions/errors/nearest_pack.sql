-- Where a pack ends, nearest to a moment.
--
-- Locks: none.
-- Callers: errors/packed/read.ts.
create or replace function nearest_pack(p error_packing, p_at timestamptz) returns timestamptz language sql immutable parallel safe
return case when p_at < p.days_until then date_bin('1 day', p_at + interval '12 hours', 'epoch')
            when p_at < p.hours_until then date_bin('1 hour', p_at + interval '30 minutes', 'epoch')
            else date_bin('15 minutes', p_at + interval '450 seconds', 'epoch') end;
