/** Schedules, batches, bulk actions, events, webhooks, waits and sessions have their own file: accessibility-operations.test.ts. */
import { expect, test } from 'vitest';
import { localBuildIn } from '../../packages/millrace/src/bundle/local-build.ts';
import { violationsInBothThemes } from '../support/axe.ts';
import { openDashboard } from '../support/dashboard.ts';
import { layoutFaults, sizes } from '../support/layout.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const tasks = {
  'tasks/shop.ts': `
    import { logger, task, trace } from '@millrace/sdk';
    export const charge = task({
      id: 'charge',
      retry: { maxAttempts: 2, minTimeoutInMs: 10 },
      run: async () => {
        logger.warn('slow bank', { ms: 900 });
        await trace('chat', async (span) => {
          span.setAttribute('gen_ai.response.model', 'house-model');
          span.setAttribute('gen_ai.usage.input_tokens', 1_200);
        });
        throw new TypeError('card refused');
      },
    });
  `,
};

test(
  'axe finds no serious problem on the pages in either theme, and nothing is cut or covered on a phone, at 200 % or on 4K',
  { timeout: 300_000 },
  async () => {
    let folder = '';
    const server = await testServer({
      localBuild: (environment, version) => localBuildIn(folder)(environment, version),
    });
    const { body: older } = await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: '0'.repeat(64), tasks: [{ id: 'charge', filePath: 'shop.ts', ttl: 60 }] },
    });
    folder = await startProject(server, tasks);
    const { body: current } = await server.ask('/api/v1/deployments/current');
    const { body } = await server.ask('/api/v1/tasks/charge/trigger', {
      method: 'POST',
      body: { payload: { a: [1] } },
    });
    await expect
      .poll(async () => (await server.ask(`/api/v3/runs/${body.id}`)).body.status, { timeout: 20_000 })
      .toBe('FAILED');
    const error = (await server.ask('/api/v1/errors')).body.data[0].id;
    for (const chart of [
      { name: 'Ended', measure: 'runs', by: 'status', form: 'bars', period: '7d', isPinned: true },
      { name: 'Failure rate', measure: 'failureRate', form: 'number', period: '24h' },
      { name: 'Slow tasks', measure: 'durationP95', by: 'task', form: 'table', period: '24h' },
    ])
      await server.ask(`/api/v1/projects/${server.projectRef}/charts/prod`, {
        method: 'POST',
        body: chart,
        key: server.personalAccessToken,
      });
    const { page, open, settled } = await openDashboard(server, { deviceScaleFactor: 2 });
    const found: string[] = [];
    for (const path of [
      '',
      '/runs',
      `/runs?panel=${body.id}`,
      `/runs/${body.id}`,
      `/runs/${body.id}?tab=logs`,
      `/runs/${body.id}?tab=payload`,
      '/tasks',
      '/tasks/charge',
      '/tasks/charge?view=test',
      '/charts',
      '/errors',
      `/errors/${error}`,
      '/errors/rules',
      '/queues',
      '/queues/task%2Fcharge?view=keys',
      '/variables',
      '/versions',
      `/versions/${current.version}/compare?with=${older.version}`,
      '/versions?tab=runners',
      '/versions?tab=branches',
      '/notifications',
      '/notifications?tab=deliveries',
      '/settings/keys',
      '/settings/project',
      '/settings/members',
      '/settings/audit',
      '/settings/storage',
    ]) {
      await page.setViewportSize({ width: 1_440, height: 900 });
      await open(path);
      await page.getByRole('heading').first().waitFor();
      await settled();
      for (const problem of await violationsInBothThemes(page)) found.push(`${path}: ${problem}`);
      // The theme does not change sizes.
      for (const { name, viewport } of sizes) {
        await page.setViewportSize(viewport);
        await settled();
        for (const problem of await layoutFaults(page)) found.push(`${path} at ${name}: ${problem}`);
      }
    }
    expect(found).toEqual([]);
  },
);
