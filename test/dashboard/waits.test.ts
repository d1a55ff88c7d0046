import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

const hostile = '<img src=x onerror=alert(1)> \u202Etxt';

const tasks = {
  'tasks/approval.ts': `
    import { metadata, step, task, wait } from '@millrace/sdk';
    export const refund = task({
      id: 'refund',
      run: async ({ tags }: { tags: string[] }) => {
        const token = await wait.createToken({ timeout: '1d', tags });
        return wait.forToken<{ approved: boolean }>(token).unwrap();
      },
    });
    export const expense = task({
      id: 'expense',
      run: async ({ amount }: { amount: number }) => {
        metadata.set('cost center', 'travel');
        await metadata.flush();
        await step.run('check budget', async () => ({ left: amount * 2 }));
        const token = await wait.createToken({
          timeout: '1d',
          schema: {
            type: 'object',
            properties: { approved: { type: 'boolean' }, limit: { type: 'integer' }, comment: { type: 'string' } },
            required: ['approved'],
          },
        });
        return wait.forToken(token).unwrap();
      },
    });
  `,
};

async function refund(server: TestServer, tags: readonly string[]): Promise<string> {
  const { body } = await server.ask('/api/v1/tasks/refund/trigger', {
    method: 'POST',
    body: { payload: { tags } },
  });
  return body.id;
}

const runOf = async (server: TestServer, id: string) => (await server.ask(`/api/v3/runs/${id}`)).body;

test(
  'a token that waits for a person is found and completed with the form, and the run continues',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    await startProject(server, tasks);
    const run = await refund(server, ['refund', hostile]);
    await expect.poll(async () => (await runOf(server, run)).status, { timeout: 20_000 }).toBe('WAITING');

    const { page, open } = await openDashboard(server);
    await open('/waits');
    const grid = page.getByRole('grid', { name: 'Tokens' });
    await grid.getByText(hostile).waitFor();
    for (const header of ['Task', 'Run', 'Waits for', 'Since'])
      await grid.getByRole('columnheader', { name: header, exact: true }).waitFor();
    await grid.getByText('refund', { exact: true }).first().waitFor();
    await grid.getByRole('button', { name: 'Complete' }).click();
    await page.getByRole('link', { name: /^refund run_/ }).waitFor();

    const form = page.getByRole('form', { name: 'Complete the token' });
    // A key that is pressed too early approves nothing.
    await form.getByRole('button', { name: 'Complete the token' }).click();
    await form.getByText('Choose yes or no.').waitFor();
    await form.getByLabel('approved', { exact: true }).selectOption('Yes');
    await form.getByLabel('comment', { exact: true }).fill('fine by me');
    await form.getByRole('button', { name: 'Complete the token' }).click();
    await page.getByText('Completed. The waiting runs continue.').waitFor();
    await expect.poll(async () => (await runOf(server, run)).status, { timeout: 20_000 }).toBe('COMPLETED');
    // The run stays linked, and the page names the user.
    await page.getByText('The run that waited').waitFor();
    await page.getByRole('link', { name: /^refund run_/ }).waitFor();
    await page.locator('.property', { hasText: 'Completed by' }).getByText('You', { exact: true }).waitFor();
    expect((await runOf(server, run)).output).toEqual({ approved: true, comment: 'fine by me' });

    // It is no longer in the list of waiting tokens.
    await open('/waits');
    await page.getByText('No tokens are waiting.').waitFor();
  },
);

test('a value is written as JSON; the slower of two people is notified', { timeout: 120_000 }, async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const run = await refund(server, ['refund']);
  await expect.poll(async () => (await runOf(server, run)).status, { timeout: 20_000 }).toBe('WAITING');
  const { page, open } = await openDashboard(server);
  await open('/waits');
  await page.getByRole('grid', { name: 'Tokens' }).getByRole('button', { name: 'Complete' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Complete the token' });
  await form.getByRole('button', { name: 'JSON' }).click();
  expect(new URL(page.url()).search).toBe('?as=json');
  await form.getByLabel('Value').fill('{ "approved": ');
  await form.getByRole('button', { name: 'Complete the token' }).click();
  await form.getByText('This is not JSON').waitFor();
  await form.getByLabel('Value').fill('{ "approved": true }');

  // The page learns of it late: another person completes the token first.
  const [token] = (await server.ask('/api/v1/waitpoints/tokens')).body.data;
  await page.route('**/api/v1/waitpoints/tokens/*', (route) => route.abort());
  await server.ask(`/api/v1/waitpoints/tokens/${token.id}/complete`, {
    method: 'POST',
    body: { data: { approved: false } },
  });
  await form.getByRole('button', { name: 'Complete the token' }).click();
  await page.unroute('**/api/v1/waitpoints/tokens/*');
  await page.getByText('Another user completed it first.').waitFor();
  await expect
    .poll(async () => (await runOf(server, run)).output, { timeout: 20_000 })
    .toEqual({ approved: false });
});

test(
  'a decision is made with the data of the run and the form of the schema, which sends empty texts',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    await startProject(server, tasks);
    const { body } = await server.ask('/api/v1/tasks/expense/trigger', {
      method: 'POST',
      body: { payload: { amount: 1_250 } },
    });
    await expect.poll(async () => (await runOf(server, body.id)).status, { timeout: 20_000 }).toBe('WAITING');
    const { page, open } = await openDashboard(server, { viewport: { width: 390, height: 844 } });
    await open('/waits');
    const grid = page.getByRole('grid', { name: 'Tokens' });
    await grid.getByText('expense', { exact: true }).waitFor();
    await grid.getByRole('button', { name: 'Complete' }).click();
    await page.getByRole('region', { name: 'Payload of the run' }).getByText('1250').waitFor();
    await page.getByRole('region', { name: 'Metadata of the run' }).getByText('travel').waitFor();
    const steps = page.getByRole('region', { name: 'Earlier steps of the run' });
    await steps.getByText('check budget').waitFor();
    await page.locator('.property', { hasText: 'May be completed by' }).getByText(/^you/).waitFor();
    // The page is not wider than a phone.
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);

    const form = page.getByRole('form', { name: 'Complete the token' });
    await form.getByRole('button', { name: 'Complete the token' }).click();
    await form.getByText('`approved` is required.').waitFor();
    await form.getByLabel('approved').selectOption('true');
    await form.getByText('{"approved":true,"comment":""}').waitFor();
    await form.getByRole('button', { name: 'Complete the token' }).click();
    await page.getByText('Completed. The waiting runs continue.').waitFor();
    await expect
      .poll(async () => (await runOf(server, body.id)).output, { timeout: 20_000 })
      .toEqual({ approved: true, comment: '' });
  },
);
