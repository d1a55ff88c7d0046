-- It returns a table now, so that it becomes part of the statement that calls it.
drop function if exists rate_add(timestamptz[], int[], int, interval, timestamptz, timestamptz);
