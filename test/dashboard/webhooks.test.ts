import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const tasks = {
  'tasks/payments.ts': `
    import { webhook } from '@millrace/sdk';
    export const payments = webhook({
      id: 'payments',
      verify: { scheme: 'stripe', secret: 'PAYMENT_SECRET' },
      onEvent: async ({ body }) => body.type,
    });
  `,
};

test(
  'a webhook is tested from its page, which shows its deliveries, and a delivery is replayed',
  { timeout: 120_000 },
  async () => {
    const server = await testServer();
    const { page, open } = await openDashboard(server);
    await open('/webhooks');
    await page.getByText('No webhooks yet.').waitFor();
    await page.getByText("import { webhook, type WebhookEvent } from '@millrace/sdk';").waitFor();

    await startProject(server, tasks);
    const webhooks = page.getByRole('grid', { name: 'Webhooks' });
    await page.reload();
    await webhooks.getByText('Not set').waitFor();
    await webhooks.getByText(/\/webhooks\/v1\/wh_/).waitFor();
    await webhooks.getByRole('link', { name: 'payments' }).click();
    await page.getByText('Every request is rejected.').waitFor();
    const { status } = await server.ask(`/api/v1/projects/${server.projectRef}/envvars/prod`, {
      method: 'POST',
      body: { name: 'PAYMENT_SECRET', value: 'whsec_<script>' },
    });
    expect(status).toBe(200);
    await page.reload();
    await page.getByText('is set').waitFor();
    await page.getByText('No deliveries yet.').waitFor();

    // The page accepts its keys once it is shown.
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Additional headers').fill('no header');
    await dialog.getByRole('button', { name: 'Send the request' }).click();
    await dialog.getByText('"no header" is not a header.').waitFor();
    await dialog.getByLabel('Additional headers').fill('X-Source: <b>bold</b>');
    await dialog.getByLabel('Body').fill('{ "id": "evt_1", "type": "invoice.paid" }');
    await dialog.getByRole('button', { name: 'Send the request' }).click();

    await page.getByRole('heading', { name: 'Delivery to payments' }).waitFor();
    await page.getByText('accepted, signature valid (Stripe)').waitFor();
    await page.getByText('<b>bold</b>').waitFor();
    await page.getByText('invoice.paid').waitFor();
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.getByText('{ "id": "evt_1", "type": "invoice.paid" }').waitFor();
    const runs = page.getByRole('grid', { name: 'Runs of the delivery' });
    await runs.getByText('Completed').waitFor({ timeout: 20_000 });
    expect(await page.content()).not.toContain('whsec_');

    await page.getByRole('button', { name: 'Replay' }).click();
    await dialog.getByLabel('Version').selectOption({ index: 1 });
    await dialog.getByRole('button', { name: 'Start a run' }).click();
    await expect.poll(() => runs.getByText('Completed').count(), { timeout: 20_000 }).toBe(2);

    await open('/webhook-deliveries?q=sender:evt_1');
    const deliveries = page.getByRole('grid', { name: 'Deliveries' });
    await deliveries.getByRole('link', { name: 'payments' }).waitFor();
    await deliveries.getByText('evt_1').waitFor();
    await open('/webhook-deliveries?q=sender:other');
    await page.getByText('No deliveries match this filter.').waitFor();
  },
);
