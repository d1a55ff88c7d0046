import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { promote } from '../support/promote.ts';
import { testServer, type TestServer } from '../support/server.ts';

const hostile = '<script>alert(1)</script> \u202Etxt';

async function register(server: TestServer, task = 'report', hash = 'a'): Promise<void> {
  const { status } = await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: {
      contentHash: hash.repeat(64),
      tasks: [{ id: task, filePath: 'tasks/report.ts', scheduled: true }],
    },
  });
  expect(status).toBe(200);
  await promote(server.url, server.keys.prod);
}

test(
  'a schedule is created in a form, shown in another time zone, backfilled with its count, and deactivated',
  { timeout: 120_000 },
  async () => {
    const server = await testServer();
    await register(server);
    const { page, open } = await openDashboard(server, { timezoneId: 'Europe/Berlin' });
    await open('/schedules');
    await page.getByText('No schedules yet.').waitFor();
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Task').fill('report');
    await dialog.getByLabel('Cron expression').fill('0 9 * *');
    await dialog.getByLabel('Time zone').fill('America/New_York');
    await dialog.getByLabel('External id').fill(hostile);
    await dialog.getByRole('button', { name: 'Create the schedule' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Cron expression').fill('0 9 * * *');
    await dialog.getByRole('button', { name: 'Create the schedule' }).click();

    await page.waitForURL(/\/schedules\/sched_/);
    await page.getByText(hostile).waitFor();
    const times = page.getByRole('list', { name: /Next times/ });
    await expect.poll(() => times.getByText('09:00:00').count(), { timeout: 20_000 }).toBeGreaterThan(4);
    await page.getByRole('combobox', { name: 'in time zone' }).fill('Asia/Tokyo');
    await expect.poll(() => times.getByText(/2[23]:00:00/).count(), { timeout: 20_000 }).toBeGreaterThan(4);
    expect(new URL(page.url()).search).toBe('?zone=Asia/Tokyo');

    // Three days on the clocks of the schedule's own zone: three ticks.
    await page.getByRole('combobox', { name: 'in time zone' }).fill('America/New_York');
    await page.getByRole('button', { name: 'Backfill' }).click();
    await dialog.getByLabel('From').fill('2026-03-07T00:00');
    await dialog.getByLabel('To (exclusive)').fill('2026-03-10T00:00');
    await dialog.getByText('3 ticks').first().waitFor();
    await dialog.getByRole('button', { name: 'Backfill 3 ticks' }).click();
    await dialog.getByText('3 runs started.').waitFor();
    const id = /sched_\w+/.exec(page.url())?.[0];
    const runs = await server.ask(`/api/v1/runs?filter[schedule]=${id}`);
    expect(runs.body.data).toHaveLength(3);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const ticks = page.getByRole('grid', { name: 'Ticks' });
    await expect.poll(() => ticks.getByText('backfilled').count(), { timeout: 20_000 }).toBe(3);
    await ticks.getByText(/8 Mar 2026, 09:00:00/).waitFor();

    // Again: no tick is run twice.
    await page.keyboard.press('b');
    await dialog.getByLabel('From').fill('2026-03-07T00:00');
    await dialog.getByLabel('To (exclusive)').fill('2026-03-10T00:00');
    await dialog.getByRole('button', { name: 'Backfill 3 ticks' }).click();
    await dialog.getByText('3 ticks already had a run.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();

    // Another version without the task: the schedule cannot fire.
    await register(server, 'other', 'b');
    await open(`/schedules/${id}`);
    await page.getByText('The current version does not have the task report').waitFor();
    await open('/schedules');
    await page.getByRole('grid', { name: 'Schedules' }).getByText('not in the current version').waitFor();
    await page.getByRole('grid', { name: 'Schedules' }).getByText('No task', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'report' }).click();
    await page.getByText(hostile).waitFor();

    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('The schedule is inactive').waitFor();
    expect((await server.ask(`/api/v1/schedules/${id}`)).body.active).toBe(false);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the schedule' }).click();
    await page.getByText('No schedules yet.').waitFor();
  },
);
