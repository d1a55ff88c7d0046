/** `npm start`: starts `millrace dev` for this project, audits what is installed, and leaves the server up. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { configure, errors, type ErrorGroup } from '@millrace/sdk';
import { runAudit } from './audit/run-audit.ts';
import { contradictions, summary } from './audit/summary.ts';
import { startDev } from './start-dev.ts';

const values = readOptions();
const project = fileURLToPath(new URL('.', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

process.chdir(project);
const dev = await startDev(['--port', values.port, ...(values.data ? ['--data', values.data] : [])]);
const secretKey = dev.environments.dev.secretKey;
configure({ baseURL: dev.url, secretKey });

let isAuditing = true;
// Ctrl-C in the middle of an audit: nobody is left to ask.
void dev.ended.then((code) => isAuditing && process.exit(code || 1));
const audit = await runAudit(project, modules, progress);
const groups: ErrorGroup[] = [];
for await (const group of errors.list({ taskIdentifier: 'audit-package', from: audit.startedAt }))
  groups.push(group);
isAuditing = false;
say('');
for (const line of summary(audit, groups)) say(line);
const wrong = contradictions(audit, groups);
for (const line of wrong) say(`This should not be: ${line}.`);
process.exitCode = wrong.length === 0 ? 0 : 1;

if (values.once) {
  dev.stop();
} else {
  say('');
  say(`The server is up. Ctrl-C ends it.\n  address  ${dev.url}`);
  // What is no terminal is kept by somebody.
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

function progress(done: number, of: number): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${of} packages`);
  else if (done === of || done % 100 === 0) say(`${done} of ${of} packages`);
}
