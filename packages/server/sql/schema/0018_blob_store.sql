-- Blobs in an S3-compatible store. Pieces arrive in `blob_pieces` as before; a verified blob is moved into an object, and its pieces are deleted.

-- An object of the store. Its row is there before it is uploaded and until after it is deleted, so that none is forgotten.
create table blob_objects (
  -- below the prefix of the store. Never used again, so that a late deletion cannot hit another object.
  key text collate "C" primary key,
  created_at timestamptz not null,
  -- a blob names it. One that none names is deleted an hour after its upload began.
  in_use boolean not null default false
);
create index blob_objects_unused on blob_objects (created_at) where not in_use;

alter table blobs
  -- where its bytes are; null for those in `blob_pieces`
  add column object_key text collate "C" references blob_objects,
  add constraint blobs_object check (object_key is null or content_digest is not null);
create unique index blobs_by_object on blobs (object_key) where object_key is not null;
