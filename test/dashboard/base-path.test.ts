import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { testServer } from '../support/server.ts';

test('below a base path every address is below it', { timeout: 180_000 }, async () => {
  const server = await testServer({ basePath: '/millrace' });
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'slow', filePath: 'slow.ts' }] },
  });
  const { body: run } = await server.ask('/api/v1/tasks/slow/trigger', { method: 'POST', body: {} });
  const { page } = await openDashboard(server, { isLoggedIn: false });
  const outside: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/millrace/')) outside.push(pathname);
  });
  await page.goto(new URL(`/millrace/p/${server.projectRef}/prod/runs?q=task:slow`, server.url).href);
  await page.getByRole('tab', { name: 'Token' }).click();
  await page.getByLabel('Personal access token').fill(server.personalAccessToken);
  await page.getByRole('button', { name: 'Log in' }).click();
  const row = page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(1);
  await row.getByRole('link').click();
  await page.getByRole('treegrid', { name: 'Timeline' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/millrace/p/${server.projectRef}/prod/runs/${run.id}`);
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(outside).toEqual([]);
});
