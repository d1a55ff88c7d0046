import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { serverOfFile } from '../support/server.ts';

const newTenant = serverOfFile();

const tasks = {
  'tasks/summarize.ts': `
    import { task, trace } from '@millrace/sdk';

    export const summarize = task({
      id: 'summarize',
      run: () =>
        trace('chat', async (span) => {
          span.setAttribute('gen_ai.provider.name', 'openai');
          span.setAttribute('gen_ai.response.model', 'gpt-5-mini');
          span.setAttribute('gen_ai.usage.input_tokens', 1_000_000);
          span.setAttribute('gen_ai.usage.output_tokens', 2_000);
        }),
    });
  `,
};

test('the cost of a run is on its page and its task, and a chart is saved, pinned, changed and deleted', async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const { body: run } = await server.ask('/api/v1/tasks/summarize/trigger', { method: 'POST', body: {} });
  const callsOf = async () => (await server.ask(`/api/v1/runs/${run.id}/models`)).body.total?.calls;
  await expect.poll(callsOf, { timeout: 30_000 }).toBe(1);
  // The chart covers seven days, whose roll-ups are written every ten seconds.
  const completed = async () => (await server.ask('/api/v1/stats?period=7d')).body.series[0].total.completed;
  await expect.poll(completed, { timeout: 30_000 }).toBe(1);

  const { page, open } = await openDashboard(server);
  await open(`/runs/${run.id}`);
  const models = page.getByRole('table', { name: 'Language models' });
  await models.getByText('gpt-5-mini').waitFor();
  expect(await models.getByRole('row').last().textContent()).toContain('1,000,00002,000$0.25');
  await open('/tasks/summarize');
  await page.getByRole('heading', { name: 'Cost by day: $0.25' }).waitFor();

  await open('/charts');
  await page.getByText('No charts yet.').waitFor();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'Add a chart' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Done <b>');
  await form.getByRole('combobox', { name: 'Measure' }).selectOption('completed');
  await form.getByRole('combobox', { name: 'Group by' }).selectOption('task');
  await form.getByRole('combobox', { name: 'Form' }).selectOption('number');
  await form.getByRole('checkbox', { name: 'Pin to the overview' }).check();
  await form.getByRole('button', { name: 'Save the chart' }).click();
  await form.getByText(/a number has one series/).waitFor();
  await form.getByRole('combobox', { name: 'Form' }).selectOption('table');
  await form.getByRole('button', { name: 'Save the chart' }).click();
  const card = page.getByRole('region', { name: 'Done <b>' });
  await card.getByRole('row', { name: 'summarize 1' }).waitFor();

  await open('/');
  await card.getByText('Completed runs by task, 7d').waitFor();
  await open('/charts');
  await card.getByRole('button', { name: 'Change' }).click();
  const change = page.getByRole('dialog', { name: 'Change the chart' });
  await change.getByRole('combobox', { name: 'Group by' }).selectOption('');
  await change.getByRole('combobox', { name: 'Form' }).selectOption('bars');
  await change.getByRole('button', { name: 'Change the chart' }).click();
  await card.getByRole('figure', { name: 'Completed runs, 7d' }).waitFor();
  await card.getByRole('button', { name: 'Unpin' }).click();
  await card.getByRole('button', { name: 'Pin', exact: true }).waitFor();
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the chart' }).click();
  await page.getByText('No charts yet.').waitFor();
});
