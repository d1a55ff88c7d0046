/** `npm start`: starts `millrace dev` for this project, audits the packages of this repository, and leaves the server running. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { configure, errors, type ErrorGroup } from '@millrace/sdk';
import { runAudit } from './audit/run-audit.ts';
import { summary } from './audit/summary.ts';
import { startDev } from './start-dev.ts';

const values = readOptions();
const say = (text: string): void => void process.stdout.write(`${text}\n`);

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
const dev = await startDev(['--port', values.port, ...(values.data ? ['--data', values.data] : [])]);
const secretKey = dev.environments.dev.secretKey;
configure({ baseURL: dev.url, secretKey });

let isAuditing = true;
// Ctrl-C during the audit stops the server, so there is nothing left to wait for.
void dev.ended.then((code) => isAuditing && process.exit(code || 1));
const started = performance.now();
const run = await runAudit('../..', progress);
const tookMs = performance.now() - started;
const groups: ErrorGroup[] = [];
for await (const group of errors.list({ taskIdentifier: 'audit-package' })) groups.push(group);
isAuditing = false;
say('');
if (run.isSuccess && run.output) {
  for (const line of summary(run.output, groups, tookMs)) say(line);
} else {
  say(`The audit is ${run.status}: ${run.error?.message ?? ''}`);
  process.exitCode = 1;
}

if (values.once) {
  dev.stop();
} else {
  say('');
  say(`The server is up. Ctrl-C ends it.\n  address  ${dev.url}`);
  // Output that is not a terminal may be stored, and these are secrets.
  if (process.stdout.isTTY) {
    say(`  key      ${secretKey}`);
    say(`  dashboard, for one login within ten minutes: ${await dashboardLink()}`);
  }
  say('In another terminal: npx millrace errors list --dir examples/license-audit');
}
const devCode = await dev.ended;
if (devCode !== 0) process.exitCode = devCode;

async function dashboardLink(): Promise<string> {
  const response = await fetch(`${dev.url}/api/v1/browser-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${dev.personalAccessToken}` },
  });
  return ((await response.json()) as { url: string }).url;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        /** Stop after the summary. */
        once: { type: 'boolean', default: false },
        port: { type: 'string', default: '4400' },
        data: { type: 'string' },
      },
    }).values;
  } catch (error) {
    process.stderr.write(
      `${(error as Error).message} There are --once, --port <port> and --data <folder>.\n`,
    );
    return process.exit(2);
  }
}

function progress({ done, of }: { done: number; of: number }): void {
  const text = `${done} of ${of} packages`;
  if (process.stdout.isTTY) process.stdout.write(`\r${text}`);
  else say(text);
}
