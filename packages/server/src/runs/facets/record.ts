import type { Transaction } from '../../db/connect.ts';

/** A run of an environment, and a facet that it has now. */
export interface FacetOfRun {
  readonly id: string;
  readonly facet: string;
}

/** Records that the id spans of these runs contain runs with these facets. */
export async function recordFacets(
  tx: Transaction,
  env: number,
  found: readonly FacetOfRun[],
): Promise<void> {
  if (found.length === 0) return;
  const [ids, facets] = [found.map(({ id }) => id), found.map((each) => each.facet)];
  await tx`select record_facets(array_fill(${env}::int, array[${found.length}::int]), ${facets}::text[], ${ids}::text[])`;
}
