/** The templates in deploy/ci: their scripts run in the shells that GitHub and GitLab use, against a server with runners. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { repository } from '../cli/command.ts';
import { ciShell, type Shell, type ShellResult } from '../deployments/ci-shell.ts';
import {
  deployedProject,
  startFetchingRunner,
  startInstallation,
  taskFile,
  type Installation,
} from '../deployments/installation.ts';

const read = async <T>(path: string): Promise<T> =>
  parse(await readFile(join(repository, 'deploy/ci', path), 'utf8')) as T;

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

interface Job {
  readonly variables?: Readonly<Record<string, string>>;
  readonly before_script?: readonly string[];
  readonly script?: readonly string[];
}

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

const branches = async (shell: Shell, key: string): Promise<string> => {
  const env = { MILLRACE_API_URL: installation.url, MILLRACE_SECRET_KEY: key };
  return (await shell('npx millrace branches list', env)).stdout;
};

/** Runs the steps of the action with these inputs, and returns its outputs. */
async function runAction(shell: Shell, dir: string, options: Readonly<Record<string, string>>) {
  const { inputs, outputs, runs } = await read<Action>('github/action/action.yml');
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(options)));
  const values = Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, options[name] ?? input.default ?? '']),
  );
  const filled = (text: string): string =>
    text.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => values[name] ?? '');
  await writeFile(join(dir, 'output'), '');
  await writeFile(join(dir, 'summary'), '');
  const github = { GITHUB_OUTPUT: join(dir, 'output'), GITHUB_STEP_SUMMARY: join(dir, 'summary') };
  let ended: ShellResult | undefined;
  for (const { if: condition = '', run = '', env = {} } of runs.steps) {
    const [, name = '', value = ''] = /^inputs\.([\w-]+) == '(\w+)'$/.exec(condition) ?? [];
    if (values[name] !== value) continue;
    const variables = Object.fromEntries(Object.entries(env).map(([key, text]) => [key, filled(text)]));
    const bash = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c'] as const;
    ended = await shell(run, { ...github, ...variables }, [...bash]);
  }
  const written = (await readFile(github.GITHUB_OUTPUT, 'utf8')).trim().split('\n');
  const found = Object.fromEntries(written.map((line) => line.split(/=(.*)/, 2)));
  const declared = Object.entries(outputs).map(([name, { value }]) => {
    expect(value).toBe(`\${{ steps.deploy.outputs.${name} }}`);
    return [name, found[name]];
  });
  return { ...ended, outputs: Object.fromEntries(declared) as Record<string, string | undefined> };
}

test('the GitHub action deploys to prod and to a preview branch, and archives the branch', async () => {
  const { url, keys } = installation;
  await startFetchingRunner(installation, keys.prod);
  await startFetchingRunner(installation, keys.preview);
  const { dir } = await deployedProject(installation, keys.prod, { 'tasks/a.ts': taskFile('a', '1') });
  const shell = await ciShell(dir);

  const prod = await runAction(shell, dir, { url, key: keys.prod });
  expect(prod, prod.stderr).toMatchObject({ code: 0 });
  expect(prod.outputs['version']).toMatch(/^\d{8}\.\d+$/);
  const page = prod.outputs['dashboard-url'] ?? '';
  expect(page).toMatch(new RegExp(`^${url}/p/proj_\\w+/prod/versions/${prod.outputs['version']}$`));
  expect((await fetch(page)).status).toBe(200);
  expect(await readFile(join(dir, 'summary'), 'utf8')).toContain(page);

  const branch = 'feat/$(id>injected)';
  const preview = await runAction(shell, dir, { url, key: keys.preview, branch });
  expect(preview, preview.stderr).toMatchObject({ code: 0 });
  expect(await branches(shell, keys.preview)).toContain(branch);
  const archived = await runAction(shell, dir, { url, key: keys.preview, branch, command: 'archive' });
  expect(archived, archived.stderr).toMatchObject({ code: 0, outputs: { version: undefined } });
  expect(await branches(shell, keys.preview)).not.toContain(branch);
  await expect(readFile(join(dir, 'injected'))).rejects.toThrow('ENOENT');

  const refused = await runAction(shell, dir, { url, key: `${keys.prod}x` });
  expect(refused).toMatchObject({ code: 4, outputs: { version: undefined } });
  expect(refused.stderr).toContain('millrace help invalid-credential');
}, 120_000);

test('the scripts of the GitHub files contain no expression, which could run the text of a branch name', async () => {
  const { runs } = await read<Action>('github/action/action.yml');
  const { jobs } = await read<Workflow>('github/millrace.yml');
  const steps = [...runs.steps, ...Object.values(jobs).flatMap((job) => job.steps)];
  expect(steps.flatMap(({ run = '' }) => (run.includes('${{') ? [run] : []))).toEqual([]);
});

test('the GitHub workflow passes the inputs that the action declares', async () => {
  const { inputs } = await read<Action>('github/action/action.yml');
  const { jobs } = await read<Workflow>('github/millrace.yml');
  const used = Object.values(jobs).flatMap(({ steps }) =>
    steps.filter(({ uses }) => uses === './.github/actions/millrace'),
  );
  expect(used).toHaveLength(2);
  for (const { with: values = {} } of used) {
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(values)));
    for (const [name, { required }] of Object.entries(inputs))
      if (required) expect(values).toHaveProperty(name);
  }
});

test('the GitLab jobs deploy to prod and to a preview branch, and archive the branch', async () => {
  const { url, keys } = installation;
  await startFetchingRunner(installation, keys.prod);
  await startFetchingRunner(installation, keys.preview);
  const { dir } = await deployedProject(installation, keys.prod, { 'tasks/b.ts': taskFile('b', '2') });
  const settings = {
    MILLRACE_API_URL: url,
    MILLRACE_SECRET_KEY: keys.prod,
    MILLRACE_PREVIEW_KEY: keys.preview,
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix/one',
  };
  const shell = await ciShell(dir, settings);
  const jobs = await read<Record<string, Job>>('gitlab/millrace.yml');
  /** GitLab puts the values of its settings into `variables`. */
  const runJob = async (name: string): Promise<ShellResult> => {
    const { variables = {}, script = [] } = jobs[name] ?? {};
    const env = Object.fromEntries(
      Object.entries(variables).map(([key, value]) => [
        key,
        value.replace(/^\$(\w+)$/, (_, setting: keyof typeof settings) => settings[setting]),
      ]),
    );
    return shell([...(jobs['.millrace']?.before_script ?? []), ...script].join('\n'), env);
  };
  const page = async (): Promise<string> => readFile(join(dir, 'millrace.env'), 'utf8');

  const prod = await runJob('millrace-deploy');
  expect(prod, prod.stderr).toMatchObject({ code: 0 });
  const { version } = JSON.parse(prod.stdout) as { version: string };
  expect(await page()).toMatch(new RegExp(`^MILLRACE_PAGE=${url}/p/proj_\\w+/prod/versions/${version}\n$`));

  const preview = await runJob('millrace-preview');
  expect(preview, preview.stderr).toMatchObject({ code: 0 });
  expect(await page()).toMatch(/\/preview~fix%2Fone\/versions\//);
  expect(await branches(shell, keys.preview)).toContain('fix/one');
  const archived = await runJob('millrace-archive');
  expect(archived, archived.stderr).toMatchObject({ code: 0 });
  expect(await branches(shell, keys.preview)).not.toContain('fix/one');
}, 120_000);
