import { readableDuration } from '@millrace/contract/plain';
import { idAt } from '../../../runs/list/position.ts';
import { readRules } from '../../../runs/retention/rules.ts';
import { environmentName, needServer, type DatabaseCheck, type EnvironmentRow } from '../database-input.ts';

/** Maximum runs of each environment. Unfinished runs are never deleted, regardless of age. */
const maxRuns = 1_000;

export const storageGrowth: DatabaseCheck = {
  name: 'storage-growth',
  condition: 'runs are deleted within two days after their retention period',
  severity: 'warning',
  why: 'The database grows without limit: runs are created faster than they are deleted, or deletion fails.',
  fix: 'Look for `job.failed` with `"job":"run pruner"` in the log of the servers. `millrace storage` shows the disk usage; a shorter retention (`PUT /api/v1/retention`) reduces it.',
  async find(input) {
    needServer(input);
    const { sql, limits } = input;
    const rules = new Map(
      (await readRules(sql, limits.runRetentionMs)).map((each) => [each.env, each.rules]),
    );
    const environments = await sql<(EnvironmentRow & { id: number; now: number })[]>`
      select e.id, p.ref as project, e.kind, e.branch,
             (extract(epoch from now()) * 1000)::float8 as now
        from environments e join projects p on p.id = e.project_id order by e.id`;
    const found: { what: string }[] = [];
    for (const { id, now, ...environment } of environments) {
      // Any status of any task may have the longest retention.
      const retentionMs = rules.get(id)?.distinct.at(-1)?.ms ?? limits.runRetentionMs;
      const before = now - retentionMs - limits.pruneLagMs;
      const [row] = await sql<{ ms: number | null }[]>`
        select extract(epoch from now() - min(r.finished_at))::float8 * 1000 as ms
          from (select x.finished_at from runs x where x.env = ${id} and x.id < ${idAt(before)} order by x.id limit ${maxRuns}) r
         where r.finished_at < ${new Date(before)}`;
      if (row?.ms)
        found.push({
          what: `${environmentName(environment)} has runs that ended ${readableDuration(row.ms)} ago; their retention is ${readableDuration(retentionMs)}.`,
        });
    }
    return found;
  },
};
