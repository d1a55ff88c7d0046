import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { localBuildIn } from '../../packages/millrace/src/bundle/local-build.ts';
import { loginLink, openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

let folder = '';
const newTenant = serverOfFile({
  localBuild: (environment, version) => localBuildIn(folder)(environment, version),
});

const tasks = {
  'tasks/shop.ts': `
    import { task } from '@millrace/sdk';

    function chargeCard(card: string): void {
      throw new RangeError('card <b>' + card + '</b> is too old');
    }

    export const charge = task({
      id: 'charge',
      retry: { maxAttempts: 1 },
      run: async ({ card, other = false }: { card: string; other?: boolean }) => {
        if (other) throw new SyntaxError('the answer of the bank was cut off');
        chargeCard(card);
      },
    });
  `,
};

async function fail(server: TestServer, payload: unknown): Promise<string> {
  const { status, body } = await server.ask('/api/v1/tasks/charge/trigger', {
    method: 'POST',
    body: { payload },
  });
  expect(status).toBe(200);
  await expect
    .poll(async () => (await server.ask(`/api/v3/runs/${body.id}`)).body.status, { timeout: 20_000 })
    .toBe('FAILED');
  return body.id;
}

/** With the mouse alone, from the page that the printed address opens, to the line of code. Returns the number of clicks. */
async function clicksToTheLine(page: Page): Promise<number> {
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    await target.click();
    clicks += 1;
  };
  await click(page.getByRole('link', { name: /^Failed, / }));
  await click(page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(1).getByRole('link'));
  await page.getByText(/shop\.ts:5/).waitFor();
  return clicks;
}

test('the line of a failed run is two clicks away; its group is found and resolved, and regresses with the next failure', async () => {
  const server = await newTenant();
  folder = await startProject(server, tasks);
  const first = await fail(server, { card: '4242' });

  const { page, open } = await openDashboard(server, { isLoggedIn: false });
  // The address that `millrace demo` prints.
  await page.goto((await loginLink(server)).replace('/login', `/p/${server.projectRef}/prod`));
  expect(await clicksToTheLine(page)).toBe(2);
  expect(new URL(page.url()).pathname).toContain(first);
  await open('/errors');
  const grid = page.getByRole('grid', { name: 'Errors' });
  await grid.getByText('RangeError').waitFor();
  await grid.getByRole('img', { name: /^Occurrences, 7d: 1/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');

  // The location of the throw is first, and text is text.
  await page.waitForURL(/\/errors\/error_/);
  await page.getByRole('heading', { name: 'RangeError' }).waitFor();
  await page.getByText('card <b>4242</b> is too old').first().waitFor();
  const frames = page.getByRole('region', { name: 'Where it was thrown' });
  await frames.getByText(/shop\.ts:5/).waitFor();
  await frames.getByText('chargeCard').first().waitFor();
  // With the source line that threw, and the lines around it.
  const source = frames.getByLabel('Source around line 5');
  await source.getByText("throw new RangeError('card <b>' + card + '</b> is too old');").waitFor();
  await source.getByText('export const charge = task({').waitFor();
  await frames.getByRole('button', { name: 'Hide the source' }).first().click();
  await source.waitFor({ state: 'detached' });
  await page
    .getByRole('region', { name: 'Why these errors are grouped' })
    .getByText('type RangeError')
    .waitFor();
  await page.getByRole('grid', { name: 'Runs' }).getByRole('row').nth(1).waitFor();

  await page.keyboard.press('e');
  await page.getByText(/^Resolved by you/).waitFor();
  await open('/errors');
  await page.getByText('No unresolved error occurred in the last 7d.').waitFor();
  await page.getByRole('button', { name: 'Resolved', exact: true }).click();
  await grid.getByText('RangeError').waitFor();
  expect(new URL(page.url()).search).toBe('?status=resolved');

  // It regresses while the page is open.
  await grid.getByRole('link', { name: /RangeError/ }).click();
  await page.getByText(/^Resolved by you/).waitFor();
  const second = await fail(server, { card: '5555' });
  expect(second).not.toBe(first);
  await page.getByRole('button', { name: 'Resolve', exact: true }).waitFor({ timeout: 30_000 });
  await page.reload();
  await page.getByRole('region', { name: 'History' }).getByText('Occurred again').waitFor();
  await page.getByText('card <b>5555</b> is too old').first().waitFor();
  await page.keyboard.press(']');
  await page.getByText('card <b>4242</b> is too old').first().waitFor();
  expect(new URL(page.url()).searchParams.get('example')).toBe(first);
});

test('an error is ignored with a limit, merged with another one, and split again', async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  await fail(server, { card: '1' });
  await fail(server, { card: '1', other: true });

  const { page, open } = await openDashboard(server);
  await open('/errors');
  const grid = page.getByRole('grid', { name: 'Errors' });
  await grid.getByRole('link', { name: /RangeError/ }).click();
  await page.waitForURL(/\/errors\/error_/);
  const address = page.url();

  await page.getByRole('button', { name: 'Ignore', exact: true }).click();
  const dialog = page.getByRole('dialog');
  const more = dialog.getByRole('textbox', { name: /this many more times/ });
  await more.fill('some');
  await dialog.getByText('Enter a whole number above 0.').waitFor();
  await more.fill('100');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('the bank knows');
  await dialog.getByRole('button', { name: 'Ignore the error' }).click();
  await page.getByText(/^Ignored by you .* until it has occurred 100 more times\. the bank knows$/).waitFor();
  await page.getByRole('button', { name: 'Mark as unresolved' }).click();
  await page.getByRole('button', { name: 'Resolve', exact: true }).waitFor();

  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Merge other errors into this one' }).click();
  await dialog.getByRole('checkbox', { name: /SyntaxError/ }).check();
  await dialog.getByRole('button', { name: 'Merge 1 error into this one' }).click();
  await page.getByText('2 fingerprints, merged').waitFor();

  await page.getByRole('checkbox', { name: 'Choose the fingerprint' }).check();
  await page.getByRole('button', { name: 'Split 1 fingerprint' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Split 1 fingerprint' }).click();
  await page.getByRole('button', { name: 'Open it' }).click();
  await page.getByRole('heading', { name: 'SyntaxError' }).waitFor();
  expect(page.url()).not.toBe(address);
});

test('a rule is tried before it is added, and is deleted after a confirmation', async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  await fail(server, { card: '1' });
  await fail(server, { card: '1', other: true });

  const { page, open } = await openDashboard(server);
  await open('/errors/rules');
  await page.getByText('No rules: errors are grouped automatically.').waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Message' }).fill('*bank*');
  await dialog.getByRole('button', { name: 'Try it on the latest failures' }).click();
  await dialog.getByText('1 of the latest 2 failed runs match').waitFor();
  await dialog.getByRole('textbox', { name: 'Message' }).fill('*');
  await dialog.getByText('The patterns have changed since.').waitFor();
  await dialog.getByRole('textbox', { name: 'Group key' }).fill('bank');
  await dialog.getByRole('button', { name: 'Add the rule' }).click();
  const rules = page.getByRole('region', { name: 'Rules' });
  await rules.getByText('bank').waitFor();
  await rules.getByRole('button', { name: 'Delete the rule of bank' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the rule' }).click();
  await page.getByText('No rules: errors are grouped automatically.').waitFor();
});
