/** `npm start`: starts `millrace dev` for this project, and audits the packages of this repository with the published SDK as the client. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { configure, runs, tasks } from '@trigger.dev/sdk';
import { startDev } from '../license-audit/start-dev.ts';
import type { audit } from './trigger/audit.ts';

const { values } = parseArgs({
  options: {
    /** Stop after the summary. */
    once: { type: 'boolean', default: false },
    port: { type: 'string', default: '4400' },
    data: { type: 'string' },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const row = (count: number, text: string): string => `  ${String(count).padStart(4)}  ${text}`;

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
const dev = await startDev(['--port', values.port, ...(values.data ? ['--data', values.data] : [])]);
configure({ baseURL: dev.url, secretKey: dev.environments.dev.secretKey });

const handle = await tasks.trigger<typeof audit>('audit', { project: '../..' });
const run = await runs.poll(handle, { pollIntervalMs: 250 });

if (run.isSuccess && run.output) {
  const { report, passed, failed, failedInProduction, licenses, failures } = run.output;
  say(`${passed + failed} packages audited: ${passed} passed, ${failed} failed.`);
  say(`Failed, and installed for production: ${failedInProduction.join(', ') || 'none'}.`);
  say(`Report: ${report}`);
  say('\nLicenses');
  for (const [license, count] of Object.entries(licenses)) say(row(count, license));
  say('\nFailures');
  for (const [message, count] of Object.entries(failures)) say(row(count, message));
} else {
  say(`The audit is ${run.status}: ${run.error?.message ?? ''}`);
  process.exitCode = 1;
}
if (values.once) dev.stop();
else say(`\nThe server is up at ${dev.url}. Ctrl-C ends it.`);
const code = await dev.ended;
if (code !== 0) process.exitCode = code;
