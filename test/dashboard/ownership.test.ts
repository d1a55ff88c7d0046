import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

const tasks = {
  'tasks/shop.ts': `
    import { task } from '@millrace/sdk';
    export const charge = task({
      id: 'charge',
      owner: '@payments',
      retry: { maxAttempts: 1 },
      run: async () => {
        throw new RangeError('the card is too old');
      },
    });
  `,
};

/** Adds a member to the organization, by an invitation. */
async function join(server: TestServer, email: string, name: string): Promise<void> {
  const key = server.personalAccessToken;
  const { organizations } = (await server.ask('/api/v1/whoami', { key })).body;
  const invitation = await server.ask(`/api/v1/orgs/${organizations[0].id}/invites`, {
    method: 'POST',
    key,
    body: { email },
  });
  const joined = await server.ask('/api/v1/invites/join', {
    method: 'POST',
    key: '',
    body: { token: invitation.body.token, name },
  });
  expect(joined.status).toBe(200);
}

async function failedRun(server: TestServer): Promise<void> {
  const { body } = await server.ask('/api/v1/tasks/charge/trigger', { method: 'POST', body: {} });
  await expect
    .poll(async () => (await server.ask(`/api/v3/runs/${body.id}`)).body.status, { timeout: 20_000 })
    .toBe('FAILED');
}

test('an error is handed to a member with a note and a ticket, in the browser alone, and is then among theirs', async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  await join(server, 'ana.hand@example.com', 'Ana');
  await failedRun(server);

  const { page, open } = await openDashboard(server);
  await open('/errors');
  const grid = page.getByRole('grid', { name: 'Errors' });
  const row = grid.getByRole('row').filter({ hasText: 'RangeError' });
  // The owner of the task, by default.
  await row.getByRole('button', { name: '@payments' }).waitFor();

  const started = Date.now();
  await row.getByRole('link', { name: /RangeError/ }).click();
  const section = page.getByRole('region', { name: 'Owner', exact: true });
  await section.getByText('@payments owns the task').waitFor();
  await section.getByRole('button', { name: 'Hand over' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Owner' }).fill('ana.hand@example.com');
  await dialog.getByRole('textbox', { name: 'Note' }).fill('The bank <b>confirmed</b> it.\nAsk Bo.');
  await dialog.getByRole('textbox', { name: 'Ticket' }).fill('https://tracker.example.com/PAY-17');
  await dialog.getByRole('button', { name: 'Hand over' }).click();
  await dialog.waitFor({ state: 'detached' });
  await section.getByText('Ana', { exact: true }).waitFor();
  // A minute is the limit for a person; a browser that follows the same steps needs a fraction of it.
  expect(Date.now() - started).toBeLessThan(60_000);

  // Text is text, and the link cannot reach this page.
  await section.getByText('The bank <b>confirmed</b> it.').waitFor();
  const link = section.getByRole('link', { name: 'https://tracker.example.com/PAY-17' });
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  await page.getByRole('region', { name: 'History' }).getByText('by you, to Ana').waitFor();
  const [{ id, ownership }] = (await server.ask('/api/v1/errors')).body.data;
  expect(ownership).toMatchObject({ owner: 'ana.hand@example.com', source: 'member' });

  // The list shows it to its owner, and no longer as an error of the reader or of the task's owner.
  await open('/errors?q=owner:@payments');
  await page.getByText('No errors match this filter.').waitFor();
  await open('/errors');
  await row.getByRole('button', { name: 'ana.hand@example.com' }).click();
  await page.waitForURL(/q=owner/);
  await row.waitFor();
  await open('/errors');
  await page.getByRole('button', { name: 'Mine', exact: true }).click();
  await page.getByText('No errors match this filter.').waitFor();

  // A failed change is undone, and its form returns with the reason.
  await open(`/errors/${id}`);
  await section.getByText('Ana', { exact: true }).waitFor();
  await page.keyboard.press('a');
  await dialog.getByRole('textbox', { name: 'Ticket' }).fill('javascript:alert(1)');
  await dialog.getByRole('button', { name: 'Hand over' }).click();
  await dialog.getByText(/must be an http or https address/).waitFor();
  await dialog.getByRole('textbox', { name: 'Ticket' }).fill('');
  await dialog.getByRole('button', { name: 'Assign to me' }).click();
  await dialog.getByRole('button', { name: 'Hand over' }).click();
  await section.getByText('You', { exact: true }).waitFor();
  await link.waitFor({ state: 'detached' });
  await open('/errors?owner=me');
  await row.waitFor();
});
