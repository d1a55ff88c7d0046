import { environmentTypes, type EnvironmentKind } from '@millrace/contract';
import type { EnvironmentInfo } from '@millrace/contract/runner';
import { environmentSlug } from '../auth/slug.ts';
import type { Sql } from '../db/connect.ts';

/** Reads the environment properties in a task's `ctx`. */
export async function readEnvironmentInfo(sql: Sql, env: number): Promise<EnvironmentInfo> {
  const [row] = await sql<
    {
      public_id: string;
      kind: EnvironmentKind;
      branch: string | null;
      ref: string;
      project: string;
      organization_id: string;
      organization: string;
    }[]
  >`
    select e.public_id, e.kind, e.branch, p.ref, p.name as project, o.id as organization_id, o.name as organization
      from environments e join projects p on p.id = e.project_id join organizations o on o.id = p.organization_id
     where e.id = ${env}`;
  if (!row) throw new Error(`environment ${env} does not exist`);
  return {
    id: row.public_id,
    slug: environmentSlug(row.kind, row.branch),
    kind: environmentTypes[row.kind],
    branch: row.branch,
    projectRef: row.ref,
    projectName: row.project,
    organizationId: row.organization_id,
    organizationName: row.organization,
  };
}
