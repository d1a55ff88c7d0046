import { readableDuration } from '@millrace/contract/plain';
import { environmentName, needTables, type DatabaseCheck, type EnvironmentRow } from '../database-input.ts';

export const webhooksFailing: DatabaseCheck = {
  name: 'webhooks-failing',
  condition: 'notification endpoints accept deliveries',
  severity: 'warning',
  why: 'Notifications of failed runs and alerts do not arrive. An endpoint that accepts nothing for five days is disabled.',
  fix: '`millrace notifications deliveries` shows the responses of the endpoint. Then run `millrace notifications enable <endpoint>`, or `remove` it.',
  async find(input) {
    needTables(input);
    const rows = await input.sql<
      (EnvironmentRow & { id: string; url: string; by: string | null; ms: number })[]
    >`
      select n.id, n.url, n.disabled_by as by, extract(epoch from now() - coalesce(n.failing_since, n.disabled_at))::float8 * 1000 as ms,
             p.ref as project, e.kind, e.branch
        from notification_endpoints n join environments e on e.id = n.env join projects p on p.id = e.project_id
       where n.disabled_by in ('failing', 'gone')
          or (n.disabled_at is null and n.failing_since < now() - make_interval(secs => ${input.limits.failingMs / 1_000}))
       order by n.failing_since limit 10`;
    return rows.map((row) => ({
      what:
        `The endpoint ${row.id} (${hostOf(row.url)}) of ${environmentName(row)} ` +
        (row.by === null
          ? `has not accepted any delivery for ${readableDuration(row.ms)}.`
          : 'was disabled, because it failed.'),
      fix: `\`millrace notifications deliveries --endpoint ${row.id}\` shows its responses. Then \`millrace notifications enable ${row.id}\`, or \`remove ${row.id}\`.`,
    }));
  },
};

/** Paths and queries of webhooks are often secret. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '?');
