import { groupBy } from '../values/group-by.ts';
import type { Sql } from '../../db/connect.ts';
import type { RunPath } from '../facets/path-facets.ts';

/** The declared paths of all environments that this process has cached. */
export interface DeclaredPaths {
  /** Undefined if none are declared. */
  of(env: number): readonly RunPath[] | undefined;
  /** Reads the paths again. */
  refresh(): Promise<void>;
}

export function declaredPaths(sql: Sql): DeclaredPaths {
  let known: ReadonlyMap<number, readonly RunPath[]> = new Map();
  return {
    of: (env) => known.get(env),
    async refresh() {
      const rows = await sql<{ env: number; id: number; path: string }[]>`
        select env, id, path from run_paths order by id`;
      known = groupBy(rows, ({ env }) => env);
    },
  };
}
