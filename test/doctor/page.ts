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

type Shown = Pick<Check<never>, 'name' | 'looksAt' | 'severity' | 'why' | 'mend'>;

/** Every check, by what it is about. */
export const groups: readonly (readonly [string, readonly Shown[]])[] = [
  ['This machine', machineChecks],
  ['The way to the database', [...folderChecks, ...connectionChecks, masterKey]],
  ['PostgreSQL', postgresChecks],
  ['The installation', installationChecks],
  ['The server and its proxy', [...answerChecks, ...serverChecks, ...processChecks]],
];

const section = ({ name, looksAt, severity, why, mend }: Shown): string =>
  `### ${name}

Looks at: ${looksAt}. A finding is ${severity === 'error' ? 'an error' : 'a warning'}.

- Why: ${why}
- Mend: ${mend}
`;

/** docs/doctor.md, from the checks. `npx vitest run test/doctor/page.test.ts --update` writes it. */
export const doctorPage = (): string => `# millrace doctor

This page is generated from the checks by test/doctor/page.ts. To change it, change a check.

\`millrace doctor\` finds what is wrong, says why it matters, and names the command or the setting that mends it. It
changes nothing, and shows no secrets.

\`\`\`sh
# before the first start, or beside a server
DATABASE_URL=postgresql://millrace:secret@db.internal:5432/millrace npx millrace doctor

# a server with the embedded database, running or not
npx millrace doctor --data /var/lib/millrace

# a running server, as clients and runners reach it
MILLRACE_ACCESS_TOKEN=svc_pat_… npx millrace doctor --url https://millrace.example.com
\`\`\`

| What is given | What is examined |
|---|---|
| nothing | this machine, and the server of \`millrace dev\` in this folder or of the login, if there is one |
| \`DATABASE_URL\`, with \`DATABASE_DIRECT_URL\` behind a [pooler](poolers.md) | this machine, the database and the installation in it |
| \`--data\` | the same for the embedded database. If no server runs on the folder, the database is started for the checks |
| \`--url\` | the server and the proxy before it. With a personal access token also what only the server sees |
| \`--backups\` or \`MILLRACE_BACKUPS\` | also the folder of [backups](backup.md): whether the newest is intact, and at most 36 hours old (\`--max-backup-age\`) |
| \`--key\` or \`MILLRACE_SECRET_KEY\`, with \`--url\` | also whether event streams arrive |

What only the server sees comes from \`GET /api/v1/doctor\`. It names hosts and queues of all projects. So only an owner of
the organization that the first start created may call it ([access](access.md)).

Each check is one line: \`ok\`, \`warning\`, \`error\`, or \`skipped\` with the reason. The findings are below. A check that does
not end in time (\`--timeout\`, default 10 seconds) has a finding itself. An installation without faults has no findings. Some
checks are skipped where they would only guess: overdue schedules are a fault only while a server is connected and the
installation is not paused.

| Exit code | Meaning |
|---|---|
| 0 | nothing is wrong |
| 1 | errors: something does not work, or data are at risk |
| 5 | only warnings: it works, and is likely to fail or costs more than it should |

With \`--json\` it prints one line: \`version\`, the numbers of \`errors\` and \`warnings\`, and \`checks\` with \`group\`, \`name\`,
\`state\`, \`tookMs\`, \`reason\` if it was skipped, and \`findings\` with \`what\`, \`why\` and \`mend\`.

\`/readyz\` uses two of the checks, because a restart or another server mends what they find: whether the database
answers, and whether it can be written ([monitoring](operations.md#monitoring)).

${groups.map(([title, checks]) => `## ${title}\n\n${checks.map(section).join('\n')}`).join('\n')}`;
