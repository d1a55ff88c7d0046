import type { EnvironmentKind } from '@millrace/contract';
import { environmentSlug } from '../../auth/slug.ts';
import type { Sql } from '../../db/connect.ts';

export interface EnvironmentLabels {
  /** The reference of its project. */
  readonly project: string;
  /** Its slug, such as `prod` or `preview-feat-x`. */
  readonly environment: string;
}

export const labelsOf = (row: {
  readonly project: string;
  readonly kind: string;
  readonly branch: string | null;
}): EnvironmentLabels => ({
  project: row.project,
  environment: environmentSlug(row.kind as EnvironmentKind, row.branch),
});

/** Reads the labels of environments. They never change. */
export function environmentLabels(
  sql: Sql,
): (envs: Iterable<number>) => Promise<ReadonlyMap<number, EnvironmentLabels>> {
  const known = new Map<number, EnvironmentLabels>();
  return async (envs) => {
    const missing = [...new Set(envs)].filter((env) => !known.has(env));
    if (missing.length > 0) {
      const rows = await sql<{ id: number; project: string; kind: string; branch: string | null }[]>`
        select e.id, p.ref as project, e.kind, e.branch from environments e join projects p on p.id = e.project_id
         where e.id = any(${missing}::int[])`;
      for (const row of rows) known.set(row.id, labelsOf(row));
    }
    return known;
  };
}
