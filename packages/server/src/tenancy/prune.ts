import type { Clock } from '../db/clock.ts';
import type { Queryable, Sql } from '../db/connect.ts';

const maxAtOnce = 1_000;

/**
 * The job that deletes the data of deleted and archived environments: one batch of one table in each short transaction, then the
 * environment, and its project after the last environment.
 */
export const environmentPruner = (sql: Sql, clock: Pick<Clock, 'now'>) => ({
  name: 'environment pruner',
  everyMs: 60_000,
  tick: (): Promise<boolean> =>
    sql.begin(async (tx) => {
      // Branches before their parent.
      const [env] = await tx<{ id: number; projectId: number }[]>`
        select id, project_id as "projectId" from environments e
         where prune_at <= ${new Date(clock.now())} and not exists (select from environments b where b.parent_id = e.id)
         order by prune_at, id limit 1 for update skip locked`;
      if (!env) return false;
      for (const table of await tablesOf(tx)) {
        // Table names come from the catalog, quoted.
        const { count } = await tx.unsafe(
          `delete from ${table} where ctid = any(array(select ctid from ${table} where env = ${env.id} limit ${maxAtOnce}))`,
        );
        if (count > 0) return true;
      }
      await tx`delete from environments where id = ${env.id}`;
      await tx`
        delete from projects p where p.id = ${env.projectId} and p.deleted_at is not null
           and not exists (select from environments e where e.project_id = p.id)`;
      return true;
    }),
});

/** All tables with a column `env`, referencing tables before referenced ones. */
async function tablesOf(sql: Queryable): Promise<string[]> {
  const tables = await sql<{ id: number; name: string; pointsAt: number[] }[]>`
    select c.oid::int as id, quote_ident(c.relname) as name,
           array(select k.confrelid::int from pg_constraint k
                  where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as "pointsAt"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'env' and not a.attisdropped
     where c.relkind = 'r' and c.relnamespace = (select x.relnamespace from pg_class x where x.oid = 'runs'::regclass)
     order by c.relname`;
  const left = [...tables];
  const ordered: string[] = [];
  while (left.length > 0) {
    const free = left.findIndex(({ id }) => !left.some((other) => other.pointsAt.includes(id)));
    const [next] = left.splice(Math.max(0, free), 1);
    if (next) ordered.push(next.name);
  }
  return ordered;
}
