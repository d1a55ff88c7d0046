import type { Check } from '@millrace/server';
import {
  installationChecks,
  postgresChecks,
  processChecks,
} from '../../packages/server/src/operations/doctor/checks.ts';
import {
  answerChecks,
  connectionChecks,
  folderChecks,
  machineChecks,
  serverChecks,
} from '../../packages/millrace/src/doctor/checks.ts';
import { masterKey } from '../../packages/millrace/src/doctor/connection/master-key.ts';

type PageCheck = Pick<Check<never>, 'name' | 'condition' | 'severity' | 'why' | 'fix'>;

/** Every check, by topic. */
export const groups: readonly (readonly [string, readonly PageCheck[]])[] = [
  ['This machine', machineChecks],
  ['Connection to the database', [...folderChecks, ...connectionChecks, masterKey]],
  ['PostgreSQL', postgresChecks],
  ['The installation', installationChecks],
  ['The server and its proxy', [...answerChecks, ...serverChecks, ...processChecks]],
];

const section = ({ name, condition, severity, why, fix }: PageCheck): string =>
  `### ${name}

Checks that ${condition}. Severity: ${severity}.

- Impact: ${why}
- Fix: ${fix}
`;

/** docs/doctor.md, from the checks. `npx vitest run test/doctor/page.test.ts --update` writes it. */
export const doctorPage = (): string => `# millrace doctor

<!-- Generated from the checks by test/doctor/page.ts. To change this page, change a check. -->

\`millrace doctor\` checks an installation for problems. For each problem it shows the impact, and the command or setting that fixes it. It
changes nothing, and shows no secrets. To check that the database accepts writes, it creates a table and drops it again in the same transaction.

\`\`\`sh
# before the first start, or on the machine of a server
DATABASE_URL=postgresql://millrace:secret@db.internal:5432/millrace npx millrace doctor

# a server with the embedded database, running or not
npx millrace doctor --data /var/lib/millrace

# a running server, through the address that clients and runners use
MILLRACE_ACCESS_TOKEN=svc_pat_… npx millrace doctor --url https://millrace.example.com
\`\`\`

| Option | Checks |
|---|---|
| none | this machine, and the server of \`millrace dev\` in this folder or of the stored login, if there is one |
| \`DATABASE_URL\`, with \`DATABASE_DIRECT_URL\` behind a [pooler](poolers.md) | this machine, the database and the installation in it |
| \`--data\` | the same for the embedded database. If no server runs on the folder, the database is started for the checks |
| \`--url\` | the server and the proxy in front of it. With a personal access token, also the checks that run in the server |
| \`--backups\` or \`MILLRACE_BACKUPS\` | also the [backup](backup.md) folder: whether the newest backup is intact, and at most 36 hours old (\`--max-backup-age\`) |
| \`--key\` or \`MILLRACE_SECRET_KEY\`, with \`--url\` | also whether event streams arrive |

The checks in the server use \`GET /api/v1/doctor\`. The response contains hosts and queues of all projects, so only an owner of
the organization that the first start created may call it ([access](access.md)).

Each check prints one line: \`ok\`, \`warning\`, \`error\`, or \`skipped\` with the reason. The findings follow. A check that exceeds
\`--timeout\` (default 10 seconds) is a finding itself. An installation without problems has no findings. A check is
skipped if its result would be unreliable. For example, overdue schedules are a problem only while a server is connected and the
installation is not paused.

| Exit code | Meaning |
|---|---|
| 0 | no problems |
| 1 | errors: something does not work, or data is at risk |
| 5 | only warnings: everything works, but may fail later or is inefficient |

With \`--json\`, the command prints one line: \`version\`, the numbers of \`errors\` and \`warnings\`, and \`checks\` with \`group\`, \`name\`,
\`state\`, \`tookMs\`, \`reason\` if it was skipped, and \`findings\` with \`what\`, \`why\` and \`fix\`.

\`/readyz\` uses two of the checks: whether the database responds, and whether it is the primary. A restart or another server
can solve these problems ([monitoring](operations.md#monitoring)).

${groups.map(([title, checks]) => `## ${title}\n\n${checks.map(section).join('\n')}`).join('\n')}`;
