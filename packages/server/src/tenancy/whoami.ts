import type { Reply, whoami as declaration, whoamiAsUser as asUser } from '@millrace/contract';
import { isUser, type Principal } from '../auth/principal.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import { listOrganizations } from './organizations.ts';

/** Describes the caller's credential. */
export async function whoami(sql: Sql, principal: Principal): Promise<Reply<typeof declaration>> {
  const { kind, credentialId } = principal;
  if (!isUser(principal)) {
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
  const { userId: id, organizations, ...user } = await whoamiAsUser(sql, principal.userId);
  return { kind, credentialId, user: { id, ...user }, organizations };
}

/** Describes a user and their organizations. */
export async function whoamiAsUser(sql: Sql, userId: string): Promise<Reply<typeof asUser>> {
  const [user] = await sql<{ name: string; email: string | null }[]>`
    select name, email from users where id = ${userId}`;
  if (!user) throw notFound('User not found');
  const organizations = await listOrganizations(sql, userId);
  return {
    userId,
    name: user.name,
    email: user.email ?? undefined,
    organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
  };
}
