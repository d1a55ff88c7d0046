import type { Queryable } from '../db/connect.ts';
import { Problem } from '../problem.ts';

/** The id of the organization that this installation was set up with. Throws 403 unless the user is an owner of it. */
export async function ownedInstallation(sql: Queryable, userId: string, what: string): Promise<string> {
  const [first] = await sql<{ id: string; role: string | null }[]>`
    select o.id, m.role from organizations o
      left join memberships m on m.organization_id = o.id and m.user_id = ${userId}
     order by o.created_at, o.id limit 1`;
  if (first?.role === 'owner') return first.id;
  throw new Problem(
    'unauthorized',
    `Only an owner of the organization that this installation was set up with may ${what}.`,
  );
}
