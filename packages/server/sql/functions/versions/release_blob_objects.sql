-- Marks the objects of deleted blobs as unused, to be deleted by the job that frees storage.
--
-- Locks: rows of blob_objects.
-- Callers: the trigger below.
create or replace function release_blob_objects() returns trigger language plpgsql as $$
begin
  update blob_objects o set in_use = false from gone g where g.object_key = o.key;
  return null;
end $$;

create or replace trigger release_blob_objects after delete on blobs referencing old table as gone
  for each statement execute function release_blob_objects();
