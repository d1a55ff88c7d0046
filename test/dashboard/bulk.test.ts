import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { openDashboard } from '../support/dashboard.ts';
import { lockWaiters } from '../support/locks.ts';
import { testServer } from '../support/server.ts';

test(
  'a batch shows its progress; a bulk action on its runs is stopped in the middle and shows the remaining runs',
  { timeout: 120_000 },
  async () => {
    const server = await testServer();
    await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'send', filePath: 'tasks/send.ts' }] },
    });
    const batch = await server.ask('/api/v2/tasks/batch', {
      method: 'POST',
      body: { items: Array.from({ length: 350 }, (_, n) => ({ task: 'send', payload: { n } })) },
    });
    expect(batch.status).toBe(202);
    const { id } = batch.body;
    const { runs } = (await server.ask(`/api/v2/batches/${id}`)).body;

    const { page, open } = await openDashboard(server);
    await open('/batches');
    const batches = page.getByRole('grid', { name: 'Batches' });
    await batches
      .getByRole('row', { name: /Running/ })
      .getByRole('link')
      .first()
      .click();
    await page.getByText('0 of 350 runs ended').waitFor();
    await page.getByRole('heading', { name: 'Batch of 350 runs' }).waitFor();

    // Locks a run in the second hundred, so that the action reaches it and waits.
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const sql = connect(server.database, { name: 'test', max: 2 });
    onTestFinished(async () => {
      release();
      await sql.end();
    });
    const holding = sql.begin(async (tx) => {
      await tx`select 1 from runs where id = ${runs[150]} for update`;
      await released;
    });
    await server.ask('/api/v1/bulk-actions', {
      method: 'POST',
      body: { action: 'cancel', filter: { batch: id }, name: '<i>clean up</i>' },
    });
    await open('/bulk');
    const actions = page.getByRole('grid', { name: 'Bulk actions' });
    await actions.getByText('<i>clean up</i>').waitFor();
    await actions.getByText('100 of 350').waitFor();
    await actions.getByRole('button', { name: 'Stop' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('Stop before 250 more runs are canceled?').waitFor();
    await question.getByText('100 runs are done and not reverted.').waitFor();
    await question.getByRole('button', { name: 'Stop the bulk action' }).click();
    // The action waits for the run, and the request of the button for the action.
    await expect.poll(() => lockWaiters(sql), { timeout: 30_000 }).toHaveLength(2);
    release();
    await holding;
    await actions.getByText('Stopped').waitFor();
    await actions.getByRole('link', { name: 'Cancel 350 runs' }).click();
    await page.getByText('150 runs unchanged').waitFor();
    await page.getByRole('grid', { name: 'Runs' }).getByText('Canceled').first().waitFor();

    await open(`/batches/${id}`);
    await page.getByText('200 of 350 runs ended').waitFor();
  },
);
