import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const tasks = {
  'tasks/orders.ts': `
    import { event, task } from '@millrace/sdk';
    export const mail = task({ id: 'mail', on: event({ name: 'order.*' }), run: async (order) => order });
    export const fraud = task({
      id: 'fraud',
      on: event({ name: 'order.paid', filter: { total: { $gte: 1000 } } }),
      run: async () => 'checked',
    });
  `,
};

test(
  'an event is sent from the page, which shows the runs that it started',
  { timeout: 120_000 },
  async () => {
    const server = await testServer();
    await startProject(server, tasks);
    const { page, open } = await openDashboard(server);
    await open('/events?view=subscriptions');
    const subscriptions = page.getByRole('grid', { name: 'Subscriptions' });
    await subscriptions.getByText('{"total":{"$gte":1000}}').waitFor();
    await subscriptions
      .getByRole('row', { name: /order\.paid/ })
      .getByRole('button', { name: 'Send' })
      .click();

    const dialog = page.getByRole('dialog');
    await dialog.getByText('Starts fraud (if its filter matches), mail.').waitFor();
    await dialog.getByLabel('Payload').fill('{ "total": 1200, "note": "<b>bold</b>" ');
    await dialog.getByRole('button', { name: 'Send the event' }).click();
    await dialog.getByText('This is not JSON').waitFor();
    await dialog.getByLabel('Payload').fill('{ "total": 1200, "note": "<b>bold</b>" }');
    await dialog.getByLabel('Id').fill('order/1?paid');
    await dialog.getByRole('button', { name: 'Send the event' }).click();
    await page.getByRole('heading', { name: 'order.paid' }).waitFor();
    const runs = page.getByRole('grid', { name: 'Runs of the event' });
    await expect.poll(() => runs.getByText('Completed').count(), { timeout: 20_000 }).toBe(2);
    await page.getByText('<b>bold</b>').waitFor();
    await page.getByText('Triggered runs: 2').waitFor();

    // A deep link: an id may be any text.
    await open(`/events/${encodeURIComponent('order/1?paid')}`);
    await runs.getByText('fraud').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Sent again. 2 runs started.').first().waitFor();
    await page.getByRole('link', { name: 'order/1?paid' }).waitFor();

    // One that waits for its time is kept from being delivered.
    await open('/events');
    // The page accepts its keys once it is shown.
    await page.getByRole('heading', { name: 'Events' }).waitFor();
    await page.keyboard.press('n');
    await dialog.getByLabel('Name').fill('nobody.listens');
    await dialog.getByText('No task is subscribed to this name').waitFor();
    await dialog.getByLabel('Deliver').selectOption('After a delay');
    await dialog.getByLabel('Delay').fill('1h');
    await dialog.getByRole('button', { name: 'Send the event' }).click();
    await page.getByText('Scheduled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel delivery' }).click();
    await page.getByText('It was canceled before its due time.').waitFor();

    await open('/events?q=status:canceled');
    const list = page.getByRole('grid', { name: 'Events' });
    await list.getByText('nobody.listens').waitFor();
    expect(await list.getByRole('row').count()).toBe(2);
  },
);
