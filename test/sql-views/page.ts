import { readFile } from 'node:fs/promises';
import type { Sql } from '../../packages/server/src/db/connect.ts';
import { readColumns } from './columns.ts';

const file = new URL('../../packages/server/sql/views.sql', import.meta.url);

/** Titles of the views, in the order of the page. */
const titles: Readonly<Record<string, string>> = {
  environments: 'Environments and branches that the role may read.',
  runs: 'Runs, for as long as they are [retained](retention.md).',
  attempts: 'Attempts of runs, including live ones.',
  steps: '[Steps](steps.md) of runs that have ended or failed.',
  tasks: 'Tasks of every version.',
  queues: 'Queues, with the present number of executing and waiting runs.',
  schedules: 'Schedules.',
  schedule_ticks: 'Ticks of schedules that created a run.',
  errors: '[Error groups](errors.md).',
  error_days: 'Occurrences of error groups by UTC day.',
  deployments: 'Versions, which are also deployments.',
  batches: 'Batches.',
  model_calls: '[Calls of language models](models.md) by runs.',
  model_days: 'Roll-ups of these calls by task, model and UTC day, which outlive the runs.',
  run_counts:
    'Roll-ups of the ended and created runs, which are retained longer than runs: two days by the minute and five minutes, 90 days by the hour and six hours, 730 days by the day.',
};

/** docs/sql-views.md. The columns and types are those of the installed views, and the descriptions are in views.sql. */
export async function sqlViewsPage(sql: Sql): Promise<string> {
  const columns = await readColumns(sql);
  const descriptions = descriptionsIn(await readFile(file, 'utf8'));
  const views = [...new Set(columns.map(({ view }) => view))];
  const missing = views.filter((view) => titles[view] === undefined);
  if (missing.length > 0) throw new Error(`Views without a title: ${missing.join(', ')}`);
  const sections = Object.entries(titles).map(([view, title]) => {
    const rows = columns
      .filter((column) => column.view === view)
      .map(({ column, type }) => {
        const description = descriptions.get(`${view}.${column}`);
        if (description === undefined) throw new Error(`No description: ${view}.${column}`);
        return `| \`${column}\` | ${type} | ${description} |`;
      });
    return `### ${view}\n\n${title}\n\n| Column | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `${head}\n${sections.join('\n')}`;
}

function descriptionsIn(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let view = '';
  for (const line of text.split('\n')) {
    view = /^create or replace view \w+\.(\w+)/.exec(line)?.[1] ?? view;
    const [, column, description] = / as (\w+),? -- (.+)$/.exec(line) ?? [];
    if (column !== undefined && description !== undefined) found.set(`${view}.${column}`, description);
  }
  return found;
}

const head = `# SQL views

<!-- Generated from packages/server/sql/views.sql by test/sql-views/page.ts. To change this page, change one of the two. -->

Reports and dashboards of your own read runs, queues and errors with SQL, through views with stable names and types. The views have no
payloads, outputs, metadata, log lines, environment variables or credentials. They do have tags, concurrency keys and normalized error
messages, which may contain personal data.

## Set up

Install the views with the database role of the server, and create a role for the reader:

\`\`\`sh
export DATABASE_URL=postgresql://millrace:secret@db.internal:5432/millrace
npx millrace sql-views install
psql "$DATABASE_URL" -c "create role analyst login password '…'"
npx millrace whoami        # shows the id of the environment of your key
npx millrace sql-views grant analyst --environment env_…
\`\`\`

\`grant\` lets the role read the views, and only the rows of the named environments and their branches. Calling it again replaces the
environments. \`--all\` includes environments that are created later. \`millrace sql-views revoke analyst\` removes the access.

Without the command line, run the output of \`millrace sql-views sql\` as the role of the server, and then:

\`\`\`sql
grant usage on schema millrace_v1 to analyst;
grant select on all tables in schema millrace_v1 to analyst;
alter default privileges in schema millrace_v1 grant select on tables to analyst;
-- One row for each environment. An env of 0 stands for all environments.
insert into sql_readers (role, env) select 'analyst', id from environments where public_id = 'env_…';
\`\`\`

A role without a row in \`sql_readers\` reads no rows, including the role of the server. The role needs no privileges on the tables of
Millrace: do not grant any.

The views must be queried in the database itself. HTTP requests never contain SQL.

## Protect the server

A report shares the database with the server. Limit its statements, so that a slow one does not delay runs or hold back VACUUM:

\`\`\`sql
alter role analyst set default_transaction_read_only = on;
alter role analyst set statement_timeout = '30s';
alter role analyst set idle_in_transaction_session_timeout = '30s';
alter role analyst connection limit 5;
\`\`\`

For heavy reports, query a [streaming replica](postgresql.md).

\`created_at\` has no index. Ids of runs are ordered by time, so select a period with \`run_id_at\`, which returns the first id of a time:

\`\`\`sql
select task, count(*), count(*) filter (where status = 'FAILED') as failed,
       percentile_cont(0.95) within group (order by duration_ms) as p95
  from millrace_v1.runs
 where run_id >= millrace_v1.run_id_at(now() - interval '1 day')
 group by task order by 2 desc;
\`\`\`

For long periods, read \`run_counts\`, which has a row for each day instead of each run:

\`\`\`sql
select at::date as day, sum(completed) as completed, sum(failed + crashed + system_failure + timed_out) as failed
  from millrace_v1.run_counts
 where minutes = 1440 and dimension = 'all' and at >= now() - interval '90 days'
 group by 1 order by 1;
\`\`\`

## Versions

The schema is the version. In \`millrace_v1\`, no column changes its name, type or meaning, and none is removed. A view may get further
columns at its end, so name the columns that you read instead of \`*\` in \`insert … select\` and \`union\`. An incompatible change creates
\`millrace_v2\` next to it. Version 1 then remains for the time that [stability](stability.md) promises.

A server that starts updates installed views and keeps their grants. If the views belong to another role than that of the server, run
\`millrace sql-views install\` with that role after each upgrade. \`millrace upgrade-data\` installs the views in the new database. Roles of
PostgreSQL are not copied: create them again, and call \`grant\`.

To remove the views: \`drop schema millrace_v1 cascade\`.

## Views
`;
