import { readFile } from 'node:fs/promises';
import { environmentKinds, type CurrentBrowserSession } from '@millrace/contract';
import type { UserPrincipal } from '../../auth/principal.ts';
import { seenBy } from '../../auth/target.ts';
import type { Sql } from '../../db/connect.ts';
import { packageFolder } from '../../package-folder.ts';
import { whoamiAsUser } from '../whoami.ts';
import { retrieveSession } from './sessions.ts';

type Project = CurrentBrowserSession['projects'][number];

/** The initial data of the dashboard: the user, and the projects they can access. */
export async function describeCurrent(
  sql: Sql,
  { credentialId, userId }: UserPrincipal,
  pausedSince: Date | null,
): Promise<CurrentBrowserSession> {
  const [session, { organizations, name, email }, projects, version] = await Promise.all([
    retrieveSession(sql, credentialId),
    whoamiAsUser(sql, userId),
    projectsOf(sql, userId),
    serverVersion(),
  ]);
  return {
    session: { ...session, isCurrent: true },
    user: { id: userId, name, email },
    organizations,
    projects,
    server: { version, pausedAt: pausedSince?.toISOString() ?? null },
  };
}

/** Without branches, of which there may be hundreds. */
const projectsOf = (sql: Sql, userId: string): Promise<Project[]> => sql<Project[]>`
  select p.ref, p.name, json_build_object('id', o.id, 'name', o.name) as organization, m.role,
    (select coalesce(json_agg(json_build_object('id', e.public_id, 'name', e.kind, 'paused', e.paused)
              order by array_position(${environmentKinds}::text[], e.kind)), '[]')
       from environments e left join environments parent on parent.id = e.parent_id
      where e.project_id = p.id and e.parent_id is null and e.archived_at is null and ${seenBy(sql, userId)}) as environments
    from memberships m join organizations o on o.id = m.organization_id join projects p on p.organization_id = o.id
   where m.user_id = ${userId} and p.deleted_at is null
   order by p.id`;

let known: Promise<string> | undefined;
const serverVersion = (): Promise<string> =>
  (known ??= readFile(new URL('package.json', packageFolder), 'utf8').then(
    (text) => (JSON.parse(text) as { version: string }).version,
  ));
