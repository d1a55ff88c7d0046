/**
 * The cost of a step: `node bench/steps.ts [steps] [runs at once]`, 2,000 steps one after the other by default, and
 * as many again in 16 runs at once. A real server, a real runner and its executor, an embedded PostgreSQL. A step's function does
 * nothing, so the time is that of storing it. The last lines are of a run of the same task whose steps are all stored: the time is that of reading them.
 */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { startRunner } from '../packages/millrace/src/serve-folder/start.ts';
import { masterKeyOf } from '../packages/server/src/auth/seal.ts';
import { createLog } from '../packages/server/src/logger.ts';
import { startServer } from '../packages/server/src/server.ts';

const steps = Number(process.argv[2] ?? 2_000);
const together = Number(process.argv[3] ?? 16);

const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-steps-')));
const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
const server = await startServer({
  database: postgres.connection,
  port: 0,
  masterKey: masterKeyOf(Buffer.alloc(32, 1)),
  log: createLog({ write() {} }),
});
const key = server.credentials?.environments.prod.secretKey ?? '';
const call = async <T>(path: string, body?: unknown): Promise<T> => {
  const response = await fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
};

const project = join(folder, 'project');
await mkdir(join(project, 'node_modules/@millrace'), { recursive: true });
await mkdir(join(project, 'tasks'));
await symlink(
  fileURLToPath(new URL('../packages/sdk', import.meta.url)),
  join(project, 'node_modules/@millrace/sdk'),
);
await writeFile(
  join(project, 'tasks/steps.ts'),
  `import { step, task } from '@millrace/sdk';
export const work = task({ id: 'work', retry: { maxAttempts: 2, minTimeoutInMs: 1 }, run: async ({ steps, again }, { ctx }) => {
  const cpu = process.cpuUsage();
  const from = performance.now();
  const each = [];
  for (let n = 0; n < steps; n++) {
    const at = performance.now();
    await step.run('step ' + n, () => ({ n }));
    each.push(performance.now() - at);
  }
  const ms = performance.now() - from;
  if (again && ctx.attempt.number === 1) throw new Error('again');
  const { user, system } = process.cpuUsage(cpu);
  each.sort((a, b) => a - b);
  return { ms, p50: each[Math.floor(each.length / 2)], p99: each[Math.floor(each.length * 0.99)], cpuMs: (user + system) / 1000 };
} });`,
);

interface Figures {
  readonly ms: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: number;
}

const execute = async (payload: object): Promise<Figures> => {
  const { id } = await call<{ id: string }>('/api/v1/tasks/work/trigger', { payload });
  for (;;) {
    const run = await call<{ isCompleted: boolean; output: Figures }>(`/api/v3/runs/${id}`);
    if (run.isCompleted) return run.output;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const us = (ms: number): string => `${Math.round((ms * 1_000) / steps)} µs`;

const runner = await startRunner({ url: server.url, secretKey: key, projectDir: project, watch: false });
try {
  const { data } = await call<{ data: { version: string }[] }>('/api/v1/deployments');
  const version = runner.version ?? data[0]?.version ?? '';
  await call(`/api/v1/deployments/${version}/promote`, {});
  await execute({ steps: 200 });
  const cpu = process.cpuUsage();
  const alone = await execute({ steps });
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `one run, ${steps} steps: ${us(alone.ms)} a step, p50 ${alone.p50.toFixed(2)} ms, p99 ${alone.p99.toFixed(2)} ms`,
  );
  console.log(
    `processor: executor ${us(alone.cpuMs)}, server and runner ${us((user + system) / 1_000)} a step`,
  );
  const from = performance.now();
  const share = Math.ceil(steps / together);
  const many = await Promise.all(Array.from({ length: together }, () => execute({ steps: share })));
  const ms = performance.now() - from;
  console.log(
    `${together} runs at once, ${share} steps each: ${Math.round((share * together * 1_000) / ms)} steps/s, p50 ${many[0]?.p50.toFixed(2)} ms`,
  );
  const again = await execute({ steps, again: true });
  console.log(`a retry that finds ${steps} stored: ${again.ms.toFixed(0)} ms in all, ${us(again.ms)} a step`);
} finally {
  await runner.stop({ waitMs: 0 });
  await server.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
