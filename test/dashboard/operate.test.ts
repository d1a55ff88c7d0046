import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newContext } from '../support/chromium.ts';
import { loginLink, openDashboard } from '../support/dashboard.ts';
import { deployed } from '../support/deployment.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

const tasksOf = (text: string): Record<string, string> => ({
  'tasks/greet.ts': `
    import { task } from '@millrace/sdk';
    export const greet = task({ id: 'greet', run: async () => '${text}' });
  `,
});

/** The reply of an operation to the owner of the server. */
const owner = async (server: TestServer, path: string, method = 'GET', body?: unknown) => {
  const answer = await server.ask(path, { method, body, key: server.personalAccessToken });
  expect(answer.status).toBe(200);
  return answer.body;
};

/** Another user of the server's organization, with the role. */
async function userWith(server: TestServer, role: string): Promise<TestServer> {
  const [organization] = await owner(server, '/api/v1/orgs');
  const invites = `/api/v1/orgs/${organization.id}/invites`;
  const { token } = await owner(server, invites, 'POST', { email: 'ann@example.com', role });
  const joined = await server.ask('/api/v1/invites/join', {
    method: 'POST',
    key: '',
    body: { token, name: 'Ann' },
  });
  expect(joined.status).toBe(200);
  return { ...server, personalAccessToken: joined.body.personalAccessToken };
}

/** Every reply to the page, as texts. */
function answersOf(page: Page): readonly Promise<string>[] {
  const answers: Promise<string>[] = [];
  page.on('response', (response) => void answers.push(response.text().catch(() => '')));
  return answers;
}

test(
  'a version is promoted, a newer one is a canary, promoted, and rolled back',
  { timeout: 180_000 },
  async () => {
    const server = await newTenant();
    const first = await deployed(server, tasksOf('one'));
    const second = await deployed(server, tasksOf('two'));
    const { page, open } = await openDashboard(server);
    const currentIs = async (version: string): Promise<void> => {
      const current = async () => (await server.ask('/api/v1/deployments/current')).body.version;
      await expect.poll(current).toBe(version);
    };
    const choose = async (version: string, entry: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${version}` }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    };
    const dialog = page.getByRole('alertdialog');
    await open('/versions');
    const grid = page.getByRole('grid', { name: 'Versions' });
    await expect.poll(() => grid.getByRole('row').count()).toBe(3);

    // No runner has loaded it: the server rejects it until this is confirmed.
    await choose(first, 'Promote');
    await dialog.getByRole('button', { name: `Promote ${first}` }).click();
    await dialog.getByText(/No connected runner has loaded version/).waitFor();
    await dialog.getByRole('checkbox', { name: 'Promote anyway' }).check();
    await dialog.getByRole('button', { name: `Promote ${first}` }).click();
    await currentIs(first);

    await choose(second, 'Start as a canary');
    const share = page.getByRole('dialog');
    await share.getByLabel('Percent of new runs').fill('100');
    await share.getByText('Enter a whole number from 1 to 99').waitFor();
    await share.getByLabel('Percent of new runs').fill('20');
    await share.getByRole('checkbox').check();
    await share.getByRole('button', { name: 'Start 20 % of new runs on it' }).click();
    await grid.getByText('Canary 20 %').waitFor();
    await page.getByRole('button', { name: 'End the canary' }).click();
    await dialog.getByRole('button', { name: 'End the canary' }).click();
    await expect.poll(() => grid.getByText('Canary').count()).toBe(0);

    await choose(second, 'Promote');
    await dialog.getByText(`instead of ${first}`).waitFor();
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: `Promote ${second}` }).click();
    await currentIs(second);

    // On the page of the previously current version, with the keyboard alone.
    await grid.getByRole('link', { name: first }).click();
    await page.getByRole('button', { name: 'Roll back to this version' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByText(`Roll back to ${first}?`).waitFor();
    await dialog.getByRole('checkbox').focus();
    await page.keyboard.press('Space');
    await dialog.getByRole('button', { name: `Roll back to ${first}` }).focus();
    await page.keyboard.press('Enter');
    await currentIs(first);
    await page.getByText('Current', { exact: true }).waitFor();
  },
);

test('waiting runs are moved to another version, after a preview', { timeout: 180_000 }, async () => {
  const server = await newTenant();
  const versions: string[] = [];
  for (const content of ['a', 'b']) {
    const { body } = await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: content.repeat(64), tasks: [{ id: 'slow', filePath: 'slow.ts' }] },
    });
    versions.push(body.version);
  }
  const [from = '', to = ''] = versions;
  for (const version of versions)
    await server.ask(`/api/v1/deployments/${version}/promote?force=true`, { method: 'POST' });
  for (let n = 0; n < 3; n++)
    await server.ask('/api/v1/tasks/slow/trigger', {
      method: 'POST',
      body: { payload: n, options: { lockToVersion: from } },
    });
  const { page, open } = await openDashboard(server);
  await open(`/versions/${from}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Move its runs' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To the version').selectOption(to);
  await dialog.getByRole('button', { name: 'Preview the move' }).click();
  await dialog.getByRole('cell', { name: 'slow' }).waitFor();
  await dialog.getByRole('button', { name: 'Move 3 runs' }).click();
  await dialog.getByText(`3 runs moved to ${to}.`).waitFor();
  await expect.poll(async () => (await server.ask(`/api/v1/deployments/${to}`)).body.liveRuns).toBe(3);
});

test(
  'a variable is set, changed and rolled back, and the value of a secret one is sent to no browser',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    const { page, open } = await openDashboard(server);
    const answers = answersOf(page);
    const variables = `/api/v1/projects/${server.projectRef}/envvars/prod`;
    const valueOf = async (name: string) => (await server.ask(`${variables}/${name}`)).body?.value;
    await open('/variables');
    await page.getByText('npx millrace env set LOG_LEVEL=debug').waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('MILLRACE_X');
    await dialog.getByLabel('Value').fill('1');
    await dialog.getByRole('button', { name: 'Set in Production' }).click();
    // The server's sentence is shown, and the typed text is still in the form.
    await dialog.getByText('MILLRACE_X: This name is reserved').waitFor();
    await dialog.getByLabel('Name').fill('LOG_LEVEL');
    await dialog.getByLabel('Value').fill('debug');
    await dialog.getByRole('button', { name: 'Set in Production' }).click();
    const grid = page.getByRole('grid', { name: 'Variables' });
    await grid.getByText('debug').waitFor();

    await page.getByRole('button', { name: 'Import' }).click();
    await dialog
      .getByLabel('Variables', { exact: true })
      .fill('STRIPE_KEY="sk_live_never_shown"\nLOG_LEVEL=info');
    await dialog.getByText('1 variable of these has a value already').waitFor();
    await dialog.getByLabel('Import as secrets').check();
    await dialog.getByLabel('Import as secrets').uncheck();
    await dialog.getByLabel('Replace existing values').check();
    await dialog.getByRole('button', { name: 'Import 2 variables' }).click();
    await grid.getByText('info').waitFor();
    // From here on it is secret. Its earlier value was sent.
    await grid.getByRole('button', { name: 'Change STRIPE_KEY' }).click();
    await dialog.getByLabel('Value').fill('sk_live_rotated_1');
    await dialog.getByLabel('Secret').check();
    await dialog.getByRole('button', { name: 'Change in Production' }).click();
    await grid.getByText('•••••••• secret').waitFor();
    await grid.getByRole('button', { name: 'Change STRIPE_KEY' }).click();
    expect(await dialog.getByLabel('New value').inputValue()).toBe('');
    await dialog.getByLabel('New value').fill('sk_live_rotated_2');
    await dialog.getByRole('button', { name: 'Change in Production' }).click();
    await expect.poll(() => dialog.count()).toBe(0);

    await page.getByRole('tab', { name: 'History' }).click();
    const history = page.getByRole('grid', { name: 'History' });
    await expect.poll(() => history.getByRole('row').count()).toBe(5);
    await history.getByRole('row').last().click();
    await page.getByRole('button', { name: 'Changes since then' }).click();
    await page.getByText('LOG_LEVEL=info').waitFor();
    await page.getByText('STRIPE_KEY=secret, not shown').waitFor();
    expect(new URL(page.url()).searchParams.get('with')).toBe('now');
    await page.getByRole('button', { name: 'Roll back to this' }).click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByRole('button', { name: 'Roll back 2 variables' }).click();
    await expect.poll(() => valueOf('LOG_LEVEL')).toBe('debug');
    expect((await server.ask(`${variables}/STRIPE_KEY`)).status).toBe(404);

    await page.getByRole('tab', { name: 'Variables' }).click();
    await grid.getByRole('button', { name: 'Delete LOG_LEVEL' }).click();
    await confirm.getByRole('button', { name: 'Delete LOG_LEVEL' }).click();
    await page.getByText('No variables yet.').waitFor();
    const all = (await Promise.all(answers)).join('\n');
    expect(all).toContain('LOG_LEVEL');
    expect(all).not.toContain('sk_live_rotated');
  },
);

test(
  'a key is created, shown once, used and revoked, and the audit log records it',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    const { page, open } = await openDashboard(server);
    const name = '<img src=x onerror=alert(1)>';
    await open('/settings/keys');
    await page.getByRole('grid', { name: 'Secret keys' }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('Permissions').selectOption({ label: 'Read' });
    await dialog.getByRole('button', { name: 'Create for Production' }).click();
    const key = (await dialog.locator('[data-once="Secret key"]').textContent()) ?? '';
    expect(key).toMatch(/^svc_prod_/);
    expect((await server.ask('/api/v1/runs', { key })).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('grid').getByText(name).waitFor();
    await page.reload();
    await page.getByRole('grid').getByText(name).waitFor();
    expect(await page.content()).not.toContain(key);

    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    const confirm = page.getByRole('alertdialog');
    const revoke = confirm.getByRole('button', { name: `Revoke ${name}` });
    expect(await revoke.isDisabled()).toBe(true);
    await confirm.getByLabel(`Type ${name} to continue`).fill(name);
    await revoke.click();
    await expect.poll(async () => (await server.ask('/api/v1/runs', { key })).status).toBe(401);
    await expect.poll(() => page.getByRole('grid').getByText(name).count()).toBe(0);

    await open('/settings/audit?act=key.revoked');
    const log = page.getByRole('grid', { name: 'Audit log' });
    await expect.poll(() => log.getByRole('row').count()).toBe(2);
    await log.getByText('key.revoked').click();
    await page.getByRole('dialog').getByText(name).waitFor();
  },
);

test(
  'a read-only member sees the pages without controls for changes, and the server rejects changes',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    const path = `/api/v1/projects/${server.projectRef}/envvars/prod`;
    await server.ask(path, { method: 'POST', body: { name: 'LOG_LEVEL', value: 'debug' } });
    const ann = await userWith(server, 'viewer');
    const { page, open } = await openDashboard(ann);
    const pages = [
      ['/variables', 'Variables', /Add variable|Import|Change LOG_LEVEL|Delete LOG_LEVEL/],
      ['/versions?tab=branches', undefined, /Create a branch/],
      ['/charts', undefined, /Add chart/],
      ['/notifications', undefined, /Add endpoint/],
      ['/notifications?tab=alerts', undefined, /Add alert/],
      ['/settings/keys', 'Secret keys', /Create key|Actions for/],
      ['/settings/members', 'Members', /Invite a member|Remove/],
    ] as const;
    for (const [at, grid, changing] of pages) {
      await open(at);
      if (grid === undefined) await page.locator('.empty').waitFor();
      else await page.getByRole('grid', { name: grid, exact: true }).waitFor();
      expect(await page.getByRole('button', { name: changing }).count()).toBe(0);
    }
    await open('/settings/audit');
    await page.getByText('Your role does not allow this.').waitFor();
    // Without the page: the server decides.
    const refused = await page.evaluate(
      async ({ url, project }) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-millrace-dashboard': '1',
            'x-millrace-project': project,
            'x-millrace-environment': 'prod',
          },
          body: JSON.stringify({ name: 'LOG_LEVEL', value: 'changed' }),
        });
        return response.status;
      },
      { url: path, project: server.projectRef },
    );
    expect(refused).toBe(403);
    expect((await server.ask(`${path}/LOG_LEVEL`)).body.value).toBe('debug');
    // They can change their own development environment.
    await open('/settings/keys', 'dev');
    await page.getByRole('grid', { name: 'Secret keys' }).waitFor();
  },
);

test(
  'a person is invited, joins, gets another role, and their browser is logged out elsewhere',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    const { page, open } = await openDashboard(server);
    await open('/settings/members');
    await page.getByRole('button', { name: 'Invite a member' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('ann@example.com');
    await dialog.getByLabel('Role').selectOption('viewer');
    await dialog.getByRole('button', { name: 'Create the invitation' }).click();
    const token = await dialog.locator('[data-once="Invitation"]').textContent();
    const joined = await server.ask('/api/v1/invites/join', {
      method: 'POST',
      key: '',
      body: { token, name: 'Ann' },
    });
    expect(joined.status).toBe(200);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.reload();
    await page.getByLabel('Role of Ann').selectOption({ label: 'Developer' });
    await page.getByText('Ann is Developer now').waitFor();

    // A second browser of the same user.
    const second = await (await newContext()).newPage();
    await second.goto(await loginLink(server));
    await second.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.goto(new URL('/account', server.url).href);
    await page.getByText('this browser').waitFor();
    await page
      .getByRole('grid', { name: 'Browsers' })
      .getByRole('button', { name: 'Log out' })
      .first()
      .click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Log out 1 browser' }).click();
    await expect.poll(() => page.getByRole('grid', { name: 'Browsers' }).getByRole('row').count()).toBe(2);
    await second.reload();
    await second.getByRole('heading', { name: 'Log in to Millrace' }).waitFor();
  },
);

test(
  'an endpoint and an alert are added, a test is sent, its delivery is read and resent',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    const { page, open } = await openDashboard(server);
    await open('/notifications');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('https://hooks.invalid/millrace');
    await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
    const secret = await dialog.locator('[data-once="Signing secret"]').textContent();
    expect(secret).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('grid', { name: 'Endpoints' }).getByText('https://hooks.invalid/millrace').click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('button', { name: 'See the delivery' }).click();
    await page.getByRole('region', { name: 'Message', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('panel')).toMatch(/^delivery_/);
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).searchParams.get('panel')).toBe(null);

    await page.getByRole('tab', { name: 'Alerts' }).click();
    await page.getByRole('button', { name: 'Add alert' }).click();
    await dialog.getByLabel('When').selectOption({ label: 'Failure rate' });
    await dialog.getByLabel('Only this task').fill('charge');
    await dialog.getByLabel('Threshold').fill('200');
    await dialog.getByRole('button', { name: 'Add the alert' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Threshold').fill('5');
    await dialog.getByRole('button', { name: 'Add the alert' }).click();
    await page.getByText('More than 5 % of at least 20 runs of charge failed within 5m').waitFor();
  },
);

test(
  'a project is renamed, an environment paused and resumed, a signing key rotated, and the project deleted',
  { timeout: 180_000 },
  async () => {
    const server = await newTenant();
    const [organization] = await owner(server, '/api/v1/orgs');
    const { externalRef: ref } = await owner(server, `/api/v1/orgs/${organization.id}/projects`, 'POST', {
      name: 'Second',
    });
    const { page } = await openDashboard(server);
    await page.goto(new URL(`/p/${ref}/dev/settings/project`, server.url).href);
    await page.getByRole('button', { name: 'Rename the project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Shop <b>2</b>');
    await dialog.getByRole('button', { name: 'Rename the project' }).click();
    await page.getByText('Project renamed to Shop <b>2</b>').waitFor();
    expect((await owner(server, `/api/v1/projects/${ref}`)).name).toBe('Shop <b>2</b>');

    const question = page.getByRole('alertdialog');
    const environments = page.getByRole('region', { name: 'Environments' });
    const isPaused = async (): Promise<boolean> =>
      (await owner(server, `/api/v1/projects/${ref}/environments`)).find(
        ({ slug }: { slug: string }) => slug === 'prod',
      ).paused;
    await page.getByRole('button', { name: 'Pause Production' }).click();
    await question.getByText('No run of Production starts').waitFor();
    await question.getByRole('button', { name: 'Pause Production' }).click();
    await environments.getByText('Paused: no run starts').waitFor();
    expect(await isPaused()).toBe(true);
    await page.getByRole('button', { name: 'Resume Production' }).click();
    await environments.getByText('Paused').waitFor({ state: 'detached' });
    expect(await isPaused()).toBe(false);

    await page.getByRole('button', { name: 'Rotate the signing key of Staging' }).click();
    await dialog.getByLabel('Older public tokens are valid for').selectOption('0s');
    await dialog.getByText('Frontends that are following runs are rejected').waitFor();
    await dialog.getByRole('button', { name: 'Rotate, and end all older tokens now' }).click();
    await page.getByText('Signing key of Staging rotated').waitFor();
    const { data } = await owner(
      server,
      `/api/v1/orgs/${organization.id}/audit?filter[act]=signingKey.rotated`,
    );
    expect(data).toMatchObject([{ projectRef: ref, environment: 'stg' }]);

    await page.getByRole('button', { name: 'Delete Shop <b>2</b>' }).click();
    const end = question.getByRole('button', { name: 'Delete Shop <b>2</b>' });
    await question.getByText('Its four environments end immediately').waitFor();
    expect(await end.isDisabled()).toBe(true);
    await question.getByRole('textbox', { name: /^Type Shop/ }).fill('Shop <b>2</b>');
    await end.click();
    await page.waitForURL(new RegExp(`/p/${server.projectRef}/`));
    expect((await server.ask(`/api/v1/projects/${ref}`, { key: server.personalAccessToken })).status).toBe(
      404,
    );
  },
);
