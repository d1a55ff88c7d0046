-- The part of a token's callback address that nobody can guess lay here in clear. It is sealed now, for it must be shown again. The
-- addresses of tokens that are there already end: such a token is completed with a key or a public token.
alter table waitpoints add column sealed bytea;
alter table waitpoints drop column callback;
