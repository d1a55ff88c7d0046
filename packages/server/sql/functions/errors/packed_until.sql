-- Up to where the packs of an environment can be used. What came late (tally_errors) invalidated those that begin before it.
--
-- Locks: none.
-- Callers: errors/packed/pack.ts, errors/packed/read.ts, errors/packed/roll-up.ts, errors/prune.ts.
create or replace function packed_until(p error_packing) returns timestamptz language sql immutable parallel safe
return case when p.until < p.days_until then date_bin('1 day', p.until, 'epoch')
            when p.until < p.hours_until then date_bin('1 hour', p.until, 'epoch') else p.until end;
