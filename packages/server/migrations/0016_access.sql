-- A development environment for each member, projects and environments that are deleted, and when what was deleted may go.

alter table projects add deleted_at timestamptz;

alter table environments
  -- whose development environment it is; null for every other kind, and for branches, which are their parent's
  add member_id text collate "C" references users,
  -- from then on its data is deleted bit by bit; null is never
  add prune_at timestamptz;
create index environments_to_prune on environments (prune_at) where prune_at is not null;
create index environments_by_member on environments (member_id) where member_id is not null;

-- The development environment that there was is the first owner's.
update environments e
   set member_id = (
     select m.user_id from memberships m
      where m.organization_id = p.organization_id and m.role = 'owner' order by m.created_at, m.user_id limit 1)
  from projects p
 where p.id = e.project_id and e.kind = 'dev' and e.parent_id is null;

drop index environments_by_name;
create unique index environments_by_kind on environments (project_id, kind, member_id) nulls not distinct
  where parent_id is null and archived_at is null;
create unique index branches_by_name on environments (parent_id, branch) where parent_id is not null and archived_at is null;
