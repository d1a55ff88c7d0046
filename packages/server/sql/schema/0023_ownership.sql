-- Owners of errors: who is responsible for a group, with a note and a ticket; and alerts that are limited to owners.

-- A group without a row belongs to the owner of its task. A separate table, because rows of `error_groups` change often.
create table error_assignments (
  env int not null,
  group_id text collate "C" not null,
  -- the assigned member or owner; at most one of them
  organization_id text collate "C",
  member_id text collate "C",
  owner text,
  note text,
  ticket_url text,
  primary key (env, group_id),
  check (member_id is null or (owner is null and organization_id is not null)),
  -- A member who leaves the organization is no longer responsible.
  foreign key (organization_id, member_id) references memberships (organization_id, user_id) on delete set null (member_id)
);
create index error_assignments_by_member on error_assignments (organization_id, member_id) where member_id is not null;

alter table error_audit drop constraint error_audit_act_check;
alter table error_audit add constraint error_audit_act_check check (
  act in ('resolved', 'ignored', 'unresolved', 'regressed', 'ignoreEnded', 'merged', 'split', 'assigned', 'noted', 'linked'));
-- the new values, for the acts that change the row of `error_assignments`
alter table error_audit add column after jsonb;

-- null means the errors and tasks of all owners
alter table alerts add column owners text[] check (cardinality(owners) > 0);
