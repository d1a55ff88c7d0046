/** Every flow with the keyboard alone: no test of this file uses a pointer. */
import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { deployed } from '../support/deployment.ts';
import { keysOf } from '../support/keys.ts';
import { startProject } from '../support/project.ts';
import { promote } from '../support/promote.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

const slow = { timeout: 240_000 };

const trigger = async (
  server: TestServer,
  task: string,
  payload: unknown = {},
  options: unknown = {},
): Promise<string> => {
  const { status, body } = await server.ask(`/api/v1/tasks/${task}/trigger`, {
    method: 'POST',
    body: { payload, options },
  });
  expect(status).toBe(200);
  return body.id;
};

const ended = async (server: TestServer, run: string, status: string): Promise<void> => {
  await expect
    .poll(async () => (await server.ask(`/api/v3/runs/${run}`)).body.status, { timeout: 30_000 })
    .toBe(status);
};

const shop = {
  'tasks/shop.ts': `
    import { task, wait, sessions } from '@millrace/sdk';
    export const charge = task({
      id: 'charge',
      retry: { maxAttempts: 1 },
      run: async ({ card }: { card: string }) => {
        throw new TypeError('card ' + card + ' was refused');
      },
    });
    export const send = task({ id: 'send', run: async () => 'sent' });
    export const order = task({
      id: 'order',
      run: async () => {
        await send.triggerAndWait({});
        await send.triggerAndWait({});
        return { lines: [{ sku: 'a' }, { sku: 'b' }] };
      },
    });
    export const refund = task({
      id: 'refund',
      run: async () => wait.forToken<{ approved: boolean }>(await wait.createToken({ timeout: '1d', tags: ['refund'] })).unwrap(),
    });
    export const chat = task({
      id: 'chat',
      run: async ({ sessionId }: { sessionId: string }) => {
        const session = sessions.open(sessionId);
        for (;;) {
          const message = await session.in.wait<{ text: string }>({ timeoutInSeconds: 300 });
          if (!message.ok) return;
          await session.out.pipe(['You said ', message.output.text]);
          await session.out.writeControl('turn-complete');
        }
      },
    });
  `,
};

test('the search palette has everything that is typed, also before its code is loaded', slow, async () => {
  const server = await newTenant();
  const { page, open } = await openDashboard(server);
  const search = page.getByRole('combobox', { name: /^Search pages/ });
  await open('/queues');

  /** Reloads the page, so that it has not loaded the palette, and returns a function that releases the palette's code. */
  const blockPalette = async (): Promise<() => void> => {
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    await page.unrouteAll();
    await page.route(/palette-dialog/, async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    return release;
  };
  for (const shortcut of ['/', 'ControlOrMeta+k']) {
    const release = await blockPalette();
    const requested = page.waitForRequest(/palette-dialog/);
    await page.keyboard.press(shortcut);
    await page.keyboard.type('shop');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('ip/');
    await requested;
    expect([shortcut, await search.count()]).toEqual([shortcut, 0]);
    // These keys arrive while the code runs, and the field is drawn and focused.
    release();
    await page.keyboard.type(' it, and everything else', { delay: 10 });
    await search.waitFor();
    expect([shortcut, await search.inputValue()]).toEqual([shortcut, 'ship/ it, and everything else']);
    // The field now receives the keys in order.
    await page.keyboard.type(' too');
    expect(await search.inputValue()).toBe('ship/ it, and everything else too');
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    // None of it remains for the next time.
    await page.keyboard.press(shortcut);
    await search.waitFor();
    expect(await search.inputValue()).toBe('');
    await page.keyboard.press('Escape');
  }
});

test(
  'the search palette finds tasks, queues and schedules, filters runs, and has the commands',
  slow,
  async () => {
    const server = await newTenant();
    await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: {
        contentHash: 'e'.repeat(64),
        tasks: [{ id: 'ship-parcels', filePath: 'tasks/ship.ts', scheduled: true }],
      },
    });
    await promote(server.url, server.keys.prod);
    await server.ask('/api/v1/schedules', {
      method: 'POST',
      body: { task: 'ship-parcels', cron: '0 4 * * *', deduplicationKey: 'nightly' },
    });
    const { page, open } = await openDashboard(server);
    await open('/errors');
    await page.getByRole('heading', { name: 'Errors' }).waitFor();
    const search = page.getByRole('combobox', { name: /^Search pages/ });
    const choose = async (text: string, option: RegExp): Promise<void> => {
      await page.keyboard.press('/');
      await search.fill(text);
      const found = page.getByRole('option', { name: option });
      await found.waitFor();
      await found.click();
    };
    await choose('PARCELS', /ship-parcels.*queue of the task/);
    await page.waitForURL(/\/queues\/task%2Fship-parcels$/);
    await page.getByRole('heading', { name: 'ship-parcels' }).waitFor();
    // A command of this page, which has the key p.
    await choose('pause the q', /Pause the queue/);
    await page
      .getByRole('button', { name: /Resume/ })
      .first()
      .waitFor();
    await choose('nightly', /schedule$/);
    await page.waitForURL(/\/schedules\/sched_/);
    await choose('status:failed', /Runs that match status:failed/);
    await page.waitForURL(({ search: query }) => query === '?q=status:failed');
    await choose('new sched', /New schedule/);
    await page.getByRole('dialog').getByLabel('Cron expression').waitFor();
  },
);

test(
  'a failed run leads to its error, which is resolved and regresses; it is replayed with another payload',
  slow,
  async () => {
    const server = await newTenant();
    await startProject(server, shop);
    const failed = await trigger(server, 'charge', { card: '4242' });
    await ended(server, failed, 'FAILED');
    const { page, open } = await openDashboard(server);
    const keys = keysOf(page);
    await open('');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    // From the overview to the run, by its filter.
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    const runs = page.getByRole('grid', { name: 'Runs' });
    await runs.getByText('charge').first().waitFor();
    await keys.press('f');
    await keys.write('status:fai');
    await page.getByRole('option', { name: 'failed', exact: true }).waitFor();
    await keys.press('ArrowDown', 'Enter');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=status:failed');
    await keys.press('Escape');
    await expect.poll(() => runs.getByRole('row').count()).toBe(2);

    // The panel gets the focus, and the row gets it back when the panel is closed.
    await keys.press('j', 'Enter');
    const panel = page.getByRole('dialog', { name: 'Run' });
    await keys.isAt(panel);
    await keys.tabTo(panel.getByRole('link', { name: 'Open the page' }));
    await panel.getByRole('button', { name: 'Replay' }).waitFor();
    await keys.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await keys.isAt(runs.locator(`[data-key="${failed}"]`));

    // A task's name in the row filters by it; Tab visits only the contents of one row.
    await keys.tabTo(runs.getByRole('button', { name: 'charge' }), 5);
    await keys.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('status:failed task:charge');

    await keys.press('j', 'Enter');
    await keys.tabTo(panel.getByRole('link', { name: 'Open the page' }));
    await keys.press('Enter');
    await page.waitForURL(new RegExp(`/runs/${failed}`));

    // Tabs and JSON.
    await keys.tabTo(page.getByRole('tab', { selected: true }));
    await keys.arrowTo(page.getByRole('tab', { name: 'Payload' }), 'ArrowRight');
    await keys.press('Enter');
    const json = page.getByRole('tree', { name: 'Payload' });
    await keys.tabTo(json.getByRole('treeitem').first());
    await keys.press('ArrowDown');
    await keys.isAt(json.getByRole('treeitem').nth(1));
    await keys.tabTo(json.getByRole('treeitem').nth(1).getByRole('button', { name: 'Copy value' }), 3);
    await keys.press('Shift+Tab', 'Shift+Tab');
    await keys.press('ArrowLeft', 'ArrowLeft');
    await expect.poll(() => json.getByRole('treeitem').count()).toBe(1);

    // Edit and replay.
    await keys.press('r');
    const dialog = page.getByRole('dialog');
    await keys.isAt(dialog.getByRole('textbox', { name: 'Payload' }));
    await keys.press('Escape');
    await keys.isAt(json.getByRole('treeitem').first());
    await keys.press('r');
    await keys.isAt(dialog.getByRole('textbox', { name: 'Payload' }));
    await page.keyboard.press('ControlOrMeta+A');
    await keys.write('{ "card": "5555" }');
    await keys.tabTo(dialog.getByRole('button', { name: 'Replay with this payload' }));
    await keys.press('Enter');
    await page.getByText('card 5555 was refused').first().waitFor();

    // Its error: resolved, with the button that undoes it, and it regresses.
    await keys.press('g', 'e');
    const errors = page.getByRole('grid', { name: 'Errors' });
    await errors.getByText('TypeError').waitFor();
    await keys.press('j', 'Enter');
    await page.getByRole('heading', { name: 'TypeError' }).waitFor();
    await keys.tabTo(page.getByRole('button', { name: 'Resolve', exact: true }));
    await keys.press('Enter');
    await page.getByText(/^Resolved by you/).waitFor();
    await keys.press('Tab');
    await ended(server, await trigger(server, 'charge', { card: '1' }), 'FAILED');
    await page.getByRole('button', { name: 'Resolve', exact: true }).waitFor({ timeout: 30_000 });
  },
);

test('a queue is paused and resumed, a token is approved, a message is sent', slow, async () => {
  const server = await newTenant();
  await startProject(server, shop);
  const waiting = await trigger(server, 'refund');
  await ended(server, waiting, 'WAITING');
  const { page, open } = await openDashboard(server);
  const keys = keysOf(page);
  await open('/queues');
  const queues = page.getByRole('grid', { name: 'Queues' });
  await queues.getByText('send').first().waitFor();
  const search = page.getByRole('combobox', { name: /^Search pages/ });

  // The search works on every page.
  await keys.press('/');
  await keys.isAt(search);
  await keys.write('queues');
  await keys.press('Escape');
  await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'detached' });
  await page.goto(new URL(`/p/${server.projectRef}/prod/queues/task%2Fsend`, server.url).href);
  await page.getByRole('heading', { name: 'send' }).first().waitFor();
  await keys.tabTo(page.getByRole('button', { name: 'Pause the queue' }));
  await keys.press('Enter');
  await keys.isAt(page.getByRole('button', { name: 'Resume the queue' }));
  const queued = await trigger(server, 'send');
  await keys.press('/');
  await keys.isAt(search);
  await keys.write(queued);
  await page.getByRole('option', { name: /Open the run/ }).waitFor();
  await keys.press('Enter');
  await page
    .getByText(/paused/i)
    .first()
    .waitFor();
  await keys.tabTo(page.getByRole('link', { name: 'Open the queue' }));
  await keys.press('Enter');
  await page.getByRole('button', { name: 'Resume the queue' }).waitFor();
  await keys.press('p');
  await ended(server, queued, 'COMPLETED');
  // An action can be undone while its message is visible.
  await page.getByRole('button', { name: 'Undo' }).last().waitFor();
  await keys.press('u');
  await page.getByRole('button', { name: 'Resume the queue' }).waitFor();
  await keys.press('p');

  await keys.press('g', 'w');
  const tokens = page.getByRole('grid', { name: 'Tokens' });
  await tokens.getByText('refund').first().waitFor();
  await keys.press('j');
  await keys.tabTo(tokens.getByRole('button', { name: 'Complete' }), 6);
  await keys.press('Enter');
  const form = page.getByRole('form', { name: 'Complete the token' });
  await keys.tabTo(form.getByLabel('approved', { exact: true }));
  await page.keyboard.type('Yes');
  await keys.tabTo(form.getByLabel('comment', { exact: true }));
  await keys.write('fine');
  await keys.press('Enter');
  await ended(server, waiting, 'COMPLETED');

  const { body: session } = await server.ask('/api/v1/sessions', {
    method: 'POST',
    body: { type: 'chat', externalId: 'support', taskIdentifier: 'chat', triggerConfig: { basePayload: {} } },
  });
  await keys.press('g', 'c');
  await page.getByRole('grid', { name: 'Sessions' }).getByText('support').waitFor();
  await keys.press('j', 'Enter');
  await page.waitForURL(new RegExp(`/sessions/${session.id}`));
  const message = page.getByRole('textbox', { name: 'Message to the task' });
  await keys.tabTo(message);
  await keys.write('hello');
  await keys.press('Enter');
  await page.getByText('You said hello').waitFor({ timeout: 30_000 });
  await keys.isAt(message);

  await keys.press('Shift+Tab');
});

test(
  'runs are selected and canceled, a time is selected in the histogram, lines of a timeline are opened',
  slow,
  async () => {
    const server = await newTenant();
    await startProject(server, shop);
    const order = await trigger(server, 'order');
    await ended(server, order, 'COMPLETED');
    const ids = [
      await trigger(server, 'send', {}, { delay: '1h' }),
      await trigger(server, 'send', {}, { delay: '1h' }),
    ];
    const { page, open } = await openDashboard(server);
    const keys = keysOf(page);
    await open('/runs');
    const runs = page.getByRole('grid', { name: 'Runs' });
    await expect.poll(() => runs.getByRole('row').count()).toBe(6);
    await keys.press('j', 'x', 'j', 'x');
    await page.getByText('2 runs selected').waitFor();
    await keys.press('b');
    await keys.tabTo(page.getByRole('button', { name: 'Cancel 2 runs' }), 4);
    await keys.press('Enter');
    const question = page.getByRole('alertdialog');
    await keys.isAt(question.getByRole('button', { name: 'Go back' }));
    await keys.press('Enter');
    await question.waitFor({ state: 'detached' });
    await keys.isAt(page.getByRole('button', { name: 'Cancel 2 runs' }));
    await keys.press('Enter');
    await keys.tabTo(question.getByRole('button', { name: 'Cancel 2 runs' }), 3);
    await keys.press('Enter');
    for (const id of ids) await ended(server, id, 'CANCELED');

    // The bar is gone, but the focus is not lost.
    await question.waitFor({ state: 'detached' });
    await keys.press('Tab');

    // A menu, its items, and back to its button.
    const columns = page.getByRole('button', { name: 'Columns' });
    await keys.tabBackTo(columns);
    await keys.press('Enter');
    await page.getByRole('menu').waitFor();
    await keys.press('ArrowDown', 'Escape');
    await keys.isAt(columns);

    // The histogram, as with a drag.
    await keys.tabTo(page.getByRole('slider', { name: /select a range/ }));
    await keys.press('ArrowLeft', 'Shift+ArrowLeft');
    // The selection is visible: two of the 168 hours.
    await expect
      .poll(() =>
        page
          .locator('.u-select')
          .first()
          .evaluate((element) => element.clientWidth),
      )
      .toBeGreaterThan(5);
    await keys.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toMatch(/^from:.+ to:.+$/);
    await page.goBack();

    // The timeline.
    await open(`/runs/${order}`);
    const timeline = page.getByRole('treegrid', { name: 'Timeline' });
    await keys.tabTo(timeline.getByRole('row').first());
    await keys.press('ArrowDown');
    await keys.isAt(timeline.getByRole('row').nth(1));
    await keys.press('z');
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    await keys.press('+', '-', 'Shift+ArrowRight', 'Escape');
    await page.getByRole('button', { name: 'Show all' }).waitFor({ state: 'detached' });
    await keys.press('Enter');
    await page.getByRole('region', { name: 'send' }).waitFor();
    await keys.press('Escape', 'Home', 'ArrowLeft');
    await expect.poll(() => timeline.getByRole('row').count()).toBe(1);

    // The help lists the keys that this test used.
    await keys.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const text = await help.getByRole('region', { name: 'In the timeline' }).innerText();
    expect(text.split(/\s*\n\s*/)).toEqual(expect.arrayContaining(['z', 'Zoom to the line', 'Next line']));
    await help.getByRole('region', { name: 'On this page' }).getByText('Replay the run').waitFor();
    expect(await help.getByText('Cancel the run').count()).toBe(0);
    await keys.press('Escape');
    await keys.isAt(timeline.getByRole('row').first());
  },
);

test('a version is promoted, and rolled back', slow, async () => {
  const server = await newTenant();
  const text = (says: string) => ({
    'tasks/hello.ts': `
      import { task } from '@millrace/sdk';
      export const hello = task({ id: 'hello', run: async () => '${says}' });
    `,
  });
  const first = await deployed(server, text('one'));
  const second = await deployed(server, text('two'));
  const { page, open } = await openDashboard(server);
  const keys = keysOf(page);
  const currentIs = async (version: string): Promise<void> => {
    await expect
      .poll(async () => (await server.ask('/api/v1/deployments/current')).body.version)
      .toBe(version);
  };
  await open('/versions');
  const versions = page.getByRole('grid', { name: 'Versions' });
  await versions.getByText(second).first().waitFor();
  const question = page.getByRole('alertdialog');
  const menu = page.getByRole('menu');
  await keys.press('j');
  await keys.tabTo(versions.getByRole('button', { name: `Actions for ${second}` }), 8);
  await keys.press('Enter');
  await menu.getByRole('menuitem', { name: 'Promote' }).waitFor();
  await keys.arrowTo(menu.getByRole('menuitem', { name: 'Promote' }));
  await keys.press('Enter');
  // No runner has loaded it: this is confirmed with the space bar.
  await keys.tabTo(question.getByRole('button', { name: `Promote ${second}` }), 4);
  await keys.press('Enter');
  await question.getByText(/No connected runner has loaded version/).waitFor();
  await keys.tabTo(question.getByRole('checkbox', { name: 'Promote anyway' }), 4);
  await keys.press('Space');
  await keys.tabTo(question.getByRole('button', { name: `Promote ${second}` }), 4);
  await keys.press('Enter');
  await currentIs(second);
  await question.waitFor({ state: 'detached' });
  await keys.isAt(versions.getByRole('button', { name: `Actions for ${second}` }));

  // The page of the previous version rolls it back.
  await keys.press('j', 'Enter');
  await keys.tabTo(page.getByRole('button', { name: /^(Roll back to|Promote) this version/ }));
  await keys.press('Enter');
  await keys.tabTo(question.getByRole('checkbox'), 4);
  await keys.press('Space');
  await keys.tabTo(question.getByRole('button', { name: first }), 4);
  await keys.press('Enter');
  await currentIs(first);
  await question.waitFor({ state: 'detached' });
  await keys.press('Shift+Tab');
});
