import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { localBuildIn } from '../../packages/millrace/src/bundle/local-build.ts';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Found {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds that keeps somebody from using the page. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<Found[]>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then((result) => result.violations)",
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    );
}

const tasks = {
  'tasks/shop.ts': `
    import { logger, task } from '@millrace/sdk';
    export const charge = task({
      id: 'charge',
      retry: { maxAttempts: 2, minTimeoutInMs: 10 },
      run: async () => {
        logger.warn('slow bank', { ms: 900 });
        throw new TypeError('card refused');
      },
    });
  `,
};

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test(
    'axe finds nothing serious on any page, and nothing is wider than 320 px',
    { timeout: 300_000 },
    async () => {
      let folder = '';
      const server = await testServer({
        localBuild: (environment, version) => localBuildIn(folder)(environment, version),
      });
      folder = await startProject(server, tasks);
      const { body } = await server.ask('/api/v1/tasks/charge/trigger', {
        method: 'POST',
        body: { payload: { a: [1] } },
      });
      await expect
        .poll(async () => (await server.ask(`/api/v3/runs/${body.id}`)).body.status, { timeout: 20_000 })
        .toBe('FAILED');
      const error = (await server.ask('/api/v1/errors')).body.data[0].id;
      const { page, open } = await openDashboard(server, { colorScheme });
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
        '/errors',
        `/errors/${error}`,
        '/errors/rules',
        '/queues',
        '/queues/task%2Fcharge?view=keys',
        '/schedules',
        '/batches',
        '/bulk',
        '/events',
        '/waits',
        '/sessions',
        '/variables',
        '/versions',
        '/versions?tab=runners',
        '/versions?tab=branches',
        '/notifications',
        '/notifications?tab=deliveries',
        '/settings/keys',
        '/settings/members',
        '/settings/audit',
        '/settings/storage',
      ]) {
        await page.setViewportSize({ width: 1_440, height: 900 });
        await open(path);
        await page.getByRole('heading').first().waitFor();
        await page.waitForLoadState('networkidle').catch(() => {});
        for (const one of await violations(page)) found.push(`${path}: ${one}`);
        await page.setViewportSize({ width: 320, height: 640 });
        await page.waitForTimeout(300);
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        if (width > 320) found.push(`${path}: ${width} px wide at 320`);
      }
      expect(found).toEqual([]);
    },
  );
});
