import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { promote } from '../support/promote.ts';
import { serverOfFile } from '../support/server.ts';

const newTenant = serverOfFile();

const tasks = {
  'tasks/shop.ts': `
    import { logger, task } from '@millrace/sdk';
    import { z } from 'zod';

    export const ship = task({
      id: 'ship',
      description: 'Ships an order <script>alert(1)</script>',
      schema: z.object({
        orderId: z.string().min(3),
        speed: z.enum(['slow', 'fast']),
        parcels: z.int().min(1).optional(),
      }),
      run: async ({ orderId, speed }) => {
        logger.info('shipping ' + orderId);
        return { shipped: orderId + ' ' + speed };
      },
    });
    export const plain = task({ id: 'plain', run: async (payload: unknown) => ({ got: payload ?? null }) });
  `,
};

test('a task is tested with a form, then with an earlier payload as JSON, and its run is watched', async () => {
  const server = await newTenant();
  await startProject(server, tasks, ['zod']);
  const { page, open } = await openDashboard(server);
  await open('/tasks');
  const grid = page.getByRole('grid', { name: 'Tasks' });
  await expect.poll(() => grid.getByRole('row').count(), { timeout: 15_000 }).toBe(3);
  await grid.getByText('Ships an order <script>').waitFor();
  await grid.getByRole('link', { name: 'ship' }).click();
  await page.getByText('No runs in the last 30 days.').waitFor();
  await page.keyboard.press('t');

  const form = page.getByRole('form', { name: 'Test' });
  await form.getByRole('textbox', { name: 'orderId' }).fill('order-1');
  await form.getByRole('combobox', { name: 'speed' }).selectOption('fast');
  await form.getByRole('textbox', { name: 'parcels (optional)' }).fill('1.5');
  await form.getByText('Enter a whole number.').waitFor();
  await form.getByText('`parcels` must be a whole number.').waitFor();
  await form.getByRole('textbox', { name: 'parcels (optional)' }).fill('2');
  await form.getByText('Options').click();
  await form.getByRole('textbox', { name: 'Tags' }).fill('tried, by hand');
  await form.getByRole('button', { name: 'Start a test in Production' }).click();

  const run = page.getByRole('region', { name: 'The run' });
  await run.getByText('Completed').first().waitFor({ timeout: 30_000 });
  await run.getByRole('tab', { name: 'Output' }).click();
  await run.getByText('order-1 fast').waitFor();
  const id = new URL(page.url()).searchParams.get('run') ?? '';
  const { body } = await server.ask(`/api/v3/runs/${id}`);
  expect(body).toMatchObject({
    payload: { orderId: 'order-1', speed: 'fast', parcels: 2 },
    tags: ['by hand', 'tried'],
    isTest: true,
  });

  // The input survives a reload, and an earlier payload replaces it.
  await page.reload();
  await expect
    .poll(() => form.getByRole('textbox', { name: 'orderId' }).inputValue(), { timeout: 15_000 })
    .toBe('order-1');
  await form.getByRole('button', { name: 'JSON' }).click();
  const payload = form.getByRole('combobox', { name: 'Payload' });
  await payload.fill('{ "speed": "fa');
  await form.getByRole('option', { name: '"fast"' }).waitFor();
  await payload.press('Tab');
  expect(await payload.inputValue()).toBe('{ "speed": "fast"');
  await form.getByText(/This is not JSON/).waitFor();
  await form.getByRole('button', { name: id.slice(-7) }).click();
  await expect
    .poll(async () => JSON.parse(await payload.inputValue()), { timeout: 15_000 })
    .toEqual(body.payload);
  await payload.fill('{ "orderId": "order-2", "speed": "slow" }');
  await payload.press('Control+Enter');
  await page.waitForURL((url) => url.searchParams.get('run') !== id);
  await run.getByText('Completed').first().waitFor({ timeout: 30_000 });
  await run.getByRole('tab', { name: 'Output' }).click();
  await run.getByText('order-2 slow').waitFor();
});

test('a task without a schema accepts any JSON; errors of the server are shown at their field', async () => {
  const server = await newTenant();
  await startProject(server, tasks, ['zod']);
  const { page, open } = await openDashboard(server);
  await open('/tasks/plain?view=test');
  const form = page.getByRole('form', { name: 'Test' });
  await form.getByRole('combobox', { name: 'Payload' }).fill('[1, 2]');
  await form.getByText('Options').click();
  await form.getByRole('textbox', { name: 'Delay' }).fill('soon');
  await form.getByRole('button', { name: 'Start a test in Production' }).click();
  await form.getByRole('alert').first().waitFor();
  expect((await server.ask('/api/v1/runs')).body.data).toEqual([]);
  await form.getByRole('textbox', { name: 'Delay' }).fill('');
  await form.getByRole('button', { name: 'Start a test in Production' }).click();
  const run = page.getByRole('region', { name: 'The run' });
  await run.getByText('Completed').first().waitFor({ timeout: 30_000 });

  await open('/tasks/nothing');
  await page.getByText('Task not found in the current version.').waitFor();
});

test('tasks are searched and sorted over all pages, by the header of a column', async () => {
  const server = await newTenant();
  const names = Array.from({ length: 60 }, (_, n) => `t${String(n).padStart(2, '0')}`);
  const body = {
    contentHash: 'c'.repeat(64),
    tasks: names.map((id) => ({ id, filePath: `tasks/${id}.ts` })),
  };
  await server.ask('/runner/v1/versions', { method: 'POST', body });
  await promote(server.url, server.keys.prod);
  await server.ask('/api/v1/tasks/t59/trigger', { method: 'POST', body: { payload: {} } });
  // Its figures are added in the background.
  await expect
    .poll(
      async () => (await server.ask('/api/v1/task-activity?sort=runs&perPage=1')).body.data[0].triggered,
      { timeout: 30_000 },
    )
    .toBe(1);
  const { page, open } = await openDashboard(server);
  await open('/tasks');
  const grid = page.getByRole('grid', { name: 'Tasks' });
  const first = async () => (await grid.getByRole('link').first().innerText()).trim();
  await expect.poll(first, { timeout: 15_000 }).toBe('t00');
  await page.getByText('Page 1 of 2').waitFor();
  await grid.getByRole('button', { name: 'Runs, 24h' }).click();
  await expect.poll(first, { timeout: 15_000 }).toBe('t59');
  expect(new URL(page.url()).searchParams.get('sort')).toBe('runs');
  expect(await grid.locator('[aria-sort="descending"]').innerText()).toBe('Runs, 24h');
  await page.getByRole('searchbox', { name: 'Find a task' }).fill('T58');
  await expect.poll(first, { timeout: 15_000 }).toBe('t58');
  await expect.poll(() => grid.getByRole('row').count()).toBe(2);

  // The breadcrumb of a queue has its name, also at an address with its id.
  const { data } = (await server.ask('/api/v1/queues?filter[search]=t59')).body;
  await open(`/queues/${data[0].id}`);
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('task/t59').waitFor();
});
