-- The tasks that whoever opened the batch said it is for; null if they did not say. Who finds it by its idempotency key must be allowed
-- all of them.
alter table batches add column tasks text[];
