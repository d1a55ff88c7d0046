/** Limits how many organizations and projects are created. */
import type { Queryable } from '../db/connect.ts';
import { unprocessable } from '../problem.ts';

export interface TenancyLimits {
  /** Organizations that one user owns. */
  readonly organizations: number;
  /** Projects of one organization; deleted ones do not count. */
  readonly projects: number;
}

export const defaultTenancyLimits: TenancyLimits = { organizations: 20, projects: 100 };

/** Throws 422 if the user owns the maximum number of organizations. Locks the user, so that concurrent requests are counted. */
export async function refuseMoreOrganizations(tx: Queryable, userId: string, limit: number): Promise<void> {
  await tx`select from users where id = ${userId} for no key update`;
  const [row] = await tx<{ owned: number }[]>`
    select count(*)::int as owned from memberships where user_id = ${userId} and role = 'owner'`;
  if ((row?.owned ?? 0) < limit) return;
  throw unprocessable(
    `You own ${row?.owned} organizations; at most ${limit} are allowed. Use one of them, or raise MILLRACE_MAX_ORGANIZATIONS on the server.`,
    'limit_reached',
  );
}

/** Throws 422 if the organization has the maximum number of projects. Locks the organization, so that concurrent requests are counted. */
export async function refuseMoreProjects(tx: Queryable, organization: string, limit: number): Promise<void> {
  await tx`select from organizations where id = ${organization} for update`;
  const [row] = await tx<{ live: number }[]>`
    select count(*)::int as live from projects where organization_id = ${organization} and deleted_at is null`;
  if ((row?.live ?? 0) < limit) return;
  throw unprocessable(
    `This organization has ${row?.live} projects; at most ${limit} are allowed. Delete one, or raise MILLRACE_MAX_PROJECTS on the server.`,
    'limit_reached',
  );
}
