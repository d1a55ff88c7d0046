import type { Sql } from '../../db/connect.ts';
import { matcherOf, type Match, type RuleFields } from './rule.ts';

/** How long rules are cached. */
const freshMs = 1_000;

/** The rules of each environment's project, at most a second old. */
export function cachedRules(sql: Sql): (env: number) => Promise<Match> {
  const known = new Map<number, { readonly at: number; readonly match: Promise<Match> }>();
  return (env) => {
    const entry = known.get(env);
    if (entry && performance.now() - entry.at < freshMs) return entry.match;
    const match = sql<RuleFields[]>`
      select r.task, r.type, r.message, r.group_key as "groupKey"
        from environments e join error_rules r on r.project_id = e.project_id
       where e.id = ${env} order by r.position, r.id`.then(matcherOf);
    known.set(env, { at: performance.now(), match });
    match.catch(() => known.delete(env));
    return match;
  };
}
