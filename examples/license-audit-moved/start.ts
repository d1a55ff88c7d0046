/** `npm start`: starts `millrace dev` for this project, and audits what is installed with the published SDK as the client. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { configure, runs, tasks } from '@trigger.dev/sdk';
import { startDev } from '../license-audit/start-dev.ts';
import type { auditAll } from './trigger/audit-package.ts';

const { values } = parseArgs({
  options: {
    /** Stop after the summary. */
    once: { type: 'boolean', default: false },
    port: { type: 'string', default: '4400' },
    data: { type: 'string' },
  },
});
const project = fileURLToPath(new URL('.', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const row = (count: number, text: string): string => `  ${String(count).padStart(4)}  ${text}`;

process.chdir(project);
const dev = await startDev(['--port', values.port, ...(values.data ? ['--data', values.data] : [])]);
configure({ baseURL: dev.url, secretKey: dev.environments.dev.secretKey });

const folder = join('.millrace', 'audits');
await mkdir(join(project, folder), { recursive: true });
const report = join(folder, `${new Date().toISOString().replaceAll(':', '.')}.ndjson`);
const handle = await tasks.trigger<typeof auditAll>('audit-all', { modules, report });
const run = await runs.poll(handle, { pollIntervalMs: 500 });

if (run.isSuccess && run.output) {
  const { packages, passed, licences, failures } = run.output;
  say(`${packages} packages audited: ${passed} passed, ${packages - passed} failed.`);
  say('\nLicences');
  for (const [licence, count] of Object.entries(licences).toSorted((a, b) => b[1] - a[1]))
    say(row(count, licence));
  say('\nFailures');
  for (const [message, count] of Object.entries(failures)) say(row(count, message));
  say(`\nCounted by the runs themselves: ${String(run.metadata?.['audited'])}`);
} else {
  say(`The audit is ${run.status}: ${run.error?.message ?? ''}`);
  process.exitCode = 1;
}
if (values.once) dev.stop();
else say(`\nThe server is up at ${dev.url}. Ctrl-C ends it.`);
const code = await dev.ended;
if (code !== 0) process.exitCode = code;
