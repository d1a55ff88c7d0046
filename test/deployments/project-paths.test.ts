/** Files and stacks as users see them: with the paths of their project, wherever its code is executed. */
import { expect, test } from 'vitest';
import { deployed, fetchingRunner } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { startProject } from '../support/project.ts';
import { promote } from '../support/promote.ts';
import { testServer } from '../support/server.ts';

const files = {
  'lib/fails.ts':
    "export function fails(): never {\n  throw new TypeError('here', { cause: new Error('why') });\n}\n",
  'lib/make.ts':
    "import { task } from '@millrace/sdk';\nexport const make = (id: string) =>\n  task({ id, run: async (_: void, { ctx }) => ctx.task.filePath });\n",
  'src/mail.ts': `import { task } from '@millrace/sdk';
import { fails } from '../lib/fails.ts';
import { make } from '../lib/make.ts';
export const failing = task({
  id: 'failing',
  retry: { maxAttempts: 1 },
  run: async () => {
    await null;
    fails();
  },
});
export const welcome = make('welcome');
`,
  'src/report.ts': "import { make } from '../lib/make.ts';\nexport const report = make('report');\n",
  'tasks/index.ts': "export * from '../src/mail.ts';\nexport { report } from '../src/report.ts';\n",
};

test.each(['deployed', 'folder'] as const)(
  'a task has the file that declares it, and a stack the paths of the project without frames of Millrace (%s)',
  { timeout: 90_000 },
  async (how) => {
    const server = await testServer();
    const key = server.keys.prod;
    if (how === 'deployed') {
      await promote(server.url, key, await deployed(server, files));
      await fetchingRunner(server);
    } else await startProject(server, files);
    const { body: listed } = await server.ask('/api/v1/tasks', { key });
    const tasks = (listed.data as { id: string; filePath: string }[]).map(({ id, filePath }) => [
      id,
      filePath,
    ]);
    expect(Object.fromEntries(tasks)).toEqual({
      failing: 'src/mail.ts',
      welcome: 'src/mail.ts',
      report: 'src/report.ts',
    });
    const ended = async (task: string, status: string) => {
      const { body } = await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', key, body: {} });
      const { body: run } = await eventually(
        () => server.ask(`/api/v3/runs/${body.id}`, { key }),
        (reply) => reply.body.status === status,
        30_000,
      );
      return run;
    };
    expect((await ended('welcome', 'COMPLETED')).output).toBe('src/mail.ts');
    const { error } = await ended('failing', 'FAILED');
    expect(error.stackTrace).toBe(
      'TypeError: here\n    at fails (lib/fails.ts:2:9)\n    at Object.run (src/mail.ts:9:5)',
    );
    expect(error.causes[0].stackTrace).toMatch(
      /^Error: why\n    at fails \(lib\/fails\.ts:2:\d+\)\n    at Object\.run/,
    );
  },
);
