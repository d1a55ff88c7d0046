import type { Reply, whoami as declaration } from '@millrace/contract';
import type { Principal } from '../auth/principal.ts';
import type { Sql } from '../db/connect.ts';
import { listOrganizations } from './organizations.ts';

/** Whom or what a credential stands for. */
export async function whoami(sql: Sql, principal: Principal): Promise<Reply<typeof declaration>> {
  const { kind, credentialId } = principal;
  if (kind !== 'personalAccessToken') {
    const { environment, scopes } = principal;
    return {
      kind,
      credentialId,
      scopes: [...scopes],
      project: { ref: environment.projectRef },
      environment: {
        id: environment.publicId,
        name: environment.kind,
        branch: environment.branch ?? undefined,
      },
    };
  }
  const [user] = await sql<{ id: string; name: string; email: string | null }[]>`
    select id, name, email from users where id = ${principal.userId}`;
  const organizations = await listOrganizations(sql, principal.userId);
  return {
    kind,
    credentialId,
    ...(user && { user: { id: user.id, name: user.name, email: user.email ?? undefined } }),
    organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
  };
}
