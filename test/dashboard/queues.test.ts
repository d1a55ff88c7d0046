import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { promote } from '../support/promote.ts';
import { startProject } from '../support/project.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

const tasks = {
  'tasks/mail.ts': `
    import { queue, task } from '@millrace/sdk';
    export const mails = queue({ name: 'mails', concurrencyLimit: 2 });
    export const send = task({ id: 'send', queue: mails, run: async () => 'sent' });
  `,
};

async function trigger(server: TestServer, options: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await server.ask('/api/v1/tasks/send/trigger', {
    method: 'POST',
    body: { payload: {}, options },
  });
  expect(status).toBe(200);
  return body.id;
}

const slow = { timeout: 180_000 };

const statusOf = async (server: TestServer, run: string): Promise<string> =>
  (await server.ask(`/api/v3/runs/${run}`)).body.status;

test('a queue is paused, its page and the run show why runs wait, and it continues when it is resumed', async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const { page, open } = await openDashboard(server);
  await open('/queues');
  const grid = page.getByRole('grid', { name: 'Queues' });
  await grid.getByRole('link', { name: 'mails' }).click();
  await page.waitForURL(/\/queues\/mails$/);
  await page.getByRole('heading', { name: 'mails' }).waitFor();
  await page.keyboard.press('p');
  await page.getByText('The queue is paused: its runs do not start.').waitFor();

  const runs = [
    await trigger(server, { concurrencyKey: 'customer <i>1</i>' }),
    await trigger(server, { concurrencyKey: 'customer <i>1</i>' }),
    await trigger(server, { concurrencyKey: 'customer 2' }),
  ];
  const why = page.getByRole('status', { name: 'Why runs wait' });
  await why.getByText(/queue .*paused/i).waitFor({ timeout: 20_000 });
  await expect
    .poll(() => page.getByRole('grid', { name: 'Runs' }).getByRole('row').count(), { timeout: 15_000 })
    .toBe(4);

  await page.getByRole('tab', { name: /^Keys/ }).click();
  const keys = page.getByRole('region', { name: 'Concurrency keys' });
  await expect
    .poll(
      () =>
        keys
          .getByRole('row')
          .allInnerTexts()
          .then((rows) => rows.map((row) => row.split(/\s*\t\s*/))),
      { timeout: 15_000 },
    )
    .toMatchObject([
      ['Concurrency key', 'Running', 'Waiting', 'State'],
      ['customer <i>1</i>', expect.stringContaining('0'), '2', '–'],
      ['customer 2', expect.stringContaining('0'), '1', '–'],
    ]);
  expect(new URL(page.url()).searchParams.get('view')).toBe('keys');

  // The page of the run links back to this one.
  const queuePage = page.url();
  await open(`/runs/${runs[0]}`);
  await page.getByRole('link', { name: 'Open the queue' }).click();
  await page.getByRole('heading', { name: 'mails' }).waitFor();
  await page.goto(queuePage);
  await page.getByRole('button', { name: 'Resume the queue' }).click();
  for (const run of runs)
    await expect.poll(() => statusOf(server, run), { timeout: 30_000 }).toBe('COMPLETED');
  await why.waitFor({ state: 'hidden', timeout: 30_000 });
});

test('a limit overrides that of the code and is removed, and the environment is paused after a confirmation', async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const { page, open } = await openDashboard(server);
  await open('/queues/mails');
  await page.getByRole('button', { name: 'Change the limit' }).click();
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('textbox', { name: 'Concurrent runs' });
  await field.fill('0');
  await dialog.getByText('With 0, no run starts').waitFor();
  await field.fill('many');
  await dialog.getByText('Enter a whole number from 0 to 100,000.').waitFor();
  await field.fill('7');
  await dialog.getByRole('button', { name: 'Set the limit to 7' }).click();
  await page.getByText('Limit set here').waitFor();
  await page.getByRole('button', { name: 'Change the limit' }).click();
  await dialog.getByRole('button', { name: '2, as in the code' }).click();
  await page.getByText('Limit set here').waitFor({ state: 'hidden' });

  await open('/queues');
  await page.getByRole('button', { name: 'Pause the environment' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByText('0 waiting runs and all new ones stay').waitFor();
  await question.getByRole('button', { name: 'Go back' }).click();
  expect((await server.ask('/api/v1/concurrency')).body.paused).toBe(false);
  await page.getByRole('button', { name: 'Pause the environment' }).click();
  await question.getByRole('button', { name: 'Pause Production' }).click();
  await page.getByText('Paused: no run starts').waitFor();
  await page.getByRole('button', { name: 'Resume the environment' }).click();
  await page.getByText('Runs start').waitFor();

  await open('/queues/nowhere');
  await page.getByText('Queue not found in this environment.').waitFor();
});

test('with more than a page of queues, the order and the search apply to all queues', slow, async () => {
  const server = await newTenant();
  const runs = [
    ...Array.from({ length: 104 }, (_, at) => ({ name: `q${String(at).padStart(3, '0')}`, count: 1 })),
    { name: 'zulu', count: 3 },
    { name: 'yankee', count: 2 },
  ];
  const items = runs.flatMap(({ name, count }) =>
    Array.from({ length: count }, () => ({ task: 'send', payload: {}, options: { queue: { name } } })),
  );
  const post = async (path: string, body: unknown) => {
    const reply = await server.ask(path, { method: 'POST', body });
    expect([path, reply.status]).toEqual([path, 200]);
    return reply.body;
  };
  // Without a version, runs wait for one and not in their queue.
  const declared = { id: 'send', filePath: 'tasks/send.ts', exportName: 'send' };
  const { version } = await post('/runner/v1/versions', { contentHash: 'a'.repeat(64), tasks: [declared] });
  await promote(server.url, server.keys.prod, version);
  await post('/api/v1/tasks/trigger-many', { items });
  const { page, open } = await openDashboard(server);
  const names = async () => {
    const rows = await page.getByRole('grid', { name: 'Queues' }).getByRole('link').allInnerTexts();
    return rows.map((text) => text.trim()).slice(0, 3);
  };
  await open('/queues');
  await expect.poll(names, { timeout: 15_000 }).toEqual(['zulu', 'yankee', 'q000']);
  await page.getByText('107 queues').waitFor();
  await page.getByText('Page 1 of 2').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect.poll(names, { timeout: 15_000 }).toEqual(['q098', 'q099', 'q100']);

  await page.getByRole('searchbox', { name: 'Find a queue' }).fill('ZUL');
  await expect.poll(names, { timeout: 15_000 }).toEqual(['zulu']);
  expect(new URL(page.url()).searchParams.get('page')).toBeNull();
  await page.getByRole('searchbox', { name: 'Find a queue' }).fill('nowhere');
  await page.getByText('No queue names match.').waitFor();
  await page.getByRole('searchbox', { name: 'Find a queue' }).fill('');
  await page.getByRole('button', { name: 'By name' }).click();
  await expect.poll(names, { timeout: 15_000 }).toEqual(['q000', 'q001', 'q002']);

  // The run filter completes queues that are not on the first page.
  await open('/runs');
  const filter = page.getByRole('combobox', { name: /Filter/ });
  await filter.fill('queue:zu');
  await page.getByRole('option', { name: 'zulu' }).waitFor();
});
