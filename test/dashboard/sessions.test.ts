import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const tasks = {
  'tasks/chat.ts': `
    import { sessions, task } from '@millrace/sdk';
    export const chat = task({
      id: 'chat',
      run: async ({ sessionId }: { sessionId: string }) => {
        const session = sessions.open(sessionId);
        for (;;) {
          const message = await session.in.wait<{ text: string }>({ timeoutInSeconds: 300 });
          if (!message.ok) return;
          await session.out.pipe(['You ', 'said ', message.output.text]);
          await session.out.append({ type: 'usage', tokens: 3 });
          await session.out.writeControl('turn-complete');
        }
      },
    });
  `,
};

test('a conversation is followed live, written to, and closed', { timeout: 120_000 }, async () => {
  const server = await testServer();
  await startProject(server, tasks);
  const started = await server.ask('/api/v1/sessions', {
    method: 'POST',
    body: {
      type: 'chat',
      externalId: 'support 42',
      taskIdentifier: 'chat',
      triggerConfig: { basePayload: {} },
      tags: ['vip'],
    },
  });
  expect(started.status).toBe(201);
  const { id } = started.body;
  const send = (text: string) =>
    server.ask(`/realtime/v1/sessions/${id}/in/append`, { method: 'POST', body: JSON.stringify({ text }) });
  await send('<script>alert(1)</script>');

  const { page, open } = await openDashboard(server);
  await open('/sessions?q=tag:vip');
  await page.getByRole('grid', { name: 'Sessions' }).getByRole('link', { name: 'support 42' }).click();
  const talk = page.getByRole('log', { name: 'Conversation' });
  await talk.getByText('<script>alert(1)</script>', { exact: true }).waitFor();
  await talk.getByText('You said <script>alert(1)</script>', { exact: true }).waitFor();
  await talk.getByText('usage').waitFor();

  // Messages of others appear by themselves.
  await send('from elsewhere');
  await talk.getByText('You said from elsewhere').waitFor();

  // With the keyboard alone; a lost reply does not send a second message.
  const message = page.getByRole('textbox', { name: 'Message to the task' });
  await message.fill('from the page');
  let lost = 0;
  await page.route('**/in/append', async (route) => {
    await route.fetch();
    if (lost++ === 0) await route.abort();
    else await route.continue();
  });
  await message.press('Enter');
  await talk.getByText('You said from the page').waitFor();
  await expect.poll(() => message.inputValue(), { timeout: 20_000 }).toBe('');
  const { body } = await server.ask(`/realtime/v1/sessions/${id}/in/records`);
  expect(body.records.map(({ data }: { data: string }) => JSON.parse(data).text)).toEqual([
    '<script>alert(1)</script>',
    'from elsewhere',
    'from the page',
  ]);

  await page.getByRole('button', { name: 'Close the session' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByLabel('Reason').fill('solved');
  await question.getByRole('button', { name: 'Close the session' }).click();
  await page.getByText('The session is closed: it accepts no more messages. Reason: solved').waitFor();
  expect(await message.count()).toBe(0);
  await talk.getByText('You said from the page').waitFor();
});
