-- The page of a claim reads the limits of rate itself.
drop function if exists rate_rooms(timestamptz, ring_lane[]);
