import { environmentName, needTables, type DatabaseCheck, type EnvironmentRow } from '../database-input.ts';

const maxText = 200;

export const runnersUnable: DatabaseCheck = {
  name: 'runners-unable',
  condition: 'connected runners can execute the deployed versions',
  severity: 'warning',
  why: 'The runner receives no runs of that version. If no other runner can execute it, its runs wait.',
  fix: 'The message lists the requirements that the runner does not meet. `millrace versions show <version>` shows all requirements of the version.',
  async find(input) {
    needTables(input);
    const rows = await input.sql<
      (EnvironmentRow & { id: string; host: string; version: string; why: string })[]
    >`
      select r.id, r.host, u.key as version, coalesce(u.value ->> 'why', '') as why, p.ref as project, e.kind, e.branch
        from runners r cross join lateral jsonb_each(r.unable) u
        join environments e on e.id = r.env join projects p on p.id = e.project_id
       where r.expires_at > now() order by 1, 3 limit 10`;
    return rows.map((row) => ({
      what: `The runner ${row.id} on ${row.host} in ${environmentName(row)} cannot execute ${row.version}: ${row.why.slice(0, maxText)}`,
    }));
  },
};
