import type { Operations, Query } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { badRequest } from '../../problem.ts';
import { pathFacet } from '../facets/path-facets.ts';

type PathFilters = Pick<Query<Operations['listRuns']>, 'filter[metadata]' | 'filter[payload]'>;

/**
 * For each path in the filter of a list, the facets of which a run must have one. 400 for a path that no environment has declared: it would
 * require a full scan.
 */
export async function findPathFacets(
  sql: Queryable,
  envs: readonly number[],
  query: PathFilters,
): Promise<string[][] | undefined> {
  const requested = (['metadata', 'payload'] as const).flatMap((source) =>
    Object.entries(query[`filter[${source}]`] ?? {}).map(([name, value]) => ({
      parameter: `filter[${source}]`,
      path: `${source}.${name}`,
      values: [value].flat(),
    })),
  );
  if (requested.length === 0) return undefined;
  const rows = await sql<{ id: number; path: string }[]>`
    select id, path from run_paths
     where env = any(${envs}::int[]) and path = any(${requested.map(({ path }) => path.replaceAll('\0', ''))}::text[])`;
  return requested.map(({ parameter, path, values }) => {
    const ids = rows.filter((row) => row.path === path).map((row) => row.id);
    if (ids.length > 0) return ids.flatMap((id) => values.map((value) => pathFacet(id, value)));
    throw badRequest(
      `${parameter}: ${path.slice(0, 256)} is not declared, so runs are not indexed by it. Declare it: millrace runs paths add ${path.slice(0, 256)}`,
    );
  });
}
