import { Command } from 'commander';
import { call } from '../call.ts';
import { environment } from '../options.ts';
import { printTable } from '../print-table.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { findOrganization, withOrganizationOptions, type OrganizationOptions } from '../organization.ts';
import { environmentsCommand, pauseCommand, resumeCommand } from './environments.ts';
import { printJson, screenOn } from '../screen.ts';

type Options = LoginOptions & { readonly json?: boolean };

const listCommand = (): Command =>
  withLoginOptions(new Command('list').description('list your projects')).action(async (options: Options) => {
    const projects = await call(await findLogin(options), 'listProjects');
    if (options.json) return projects.forEach(printJson);
    printTable(
      ['project', 'name', 'organization', 'role'],
      projects.map(({ externalRef, name, organization, role }) => [
        externalRef,
        name,
        organization.name,
        role,
      ]),
    );
  });

const createCommand = (): Command =>
  withOrganizationOptions(
    new Command('create')
      .description('create a project with its four environments')
      .argument('<name>', 'name of the project'),
  ).action(async (name: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const project = await call(login, 'createProject', { params: { organization }, body: { name } });
    if (options.json) return printJson(project);
    screenOn(process.stdout).line(
      `Created ${project.externalRef}. Its keys: millrace keys list --project ${project.externalRef}`,
    );
  });

interface DeleteOptions extends Options {
  readonly env?: string;
  readonly confirm: string;
}

const deleteCommand = (): Command =>
  withLoginOptions(
    new Command('delete')
      .description('permanently delete a project or environment')
      .argument('<project>', 'project ref (proj_…)')
      .option(
        '--env <environment>',
        'delete only this environment, and replace it with an empty one',
        environment,
      )
      .requiredOption(
        '--confirm <name>',
        'repeat the project ref, or the name of the environment, to confirm',
      ),
  ).action(async (projectRef: string, options: DeleteOptions) => {
    const { env, confirm } = options;
    const login = await findLogin(options);
    const deleted =
      env === undefined
        ? await call(login, 'deleteProject', { params: { projectRef }, query: { confirm } })
        : await call(login, 'deleteEnvironment', { params: { projectRef, env }, query: { confirm } });
    if (options.json) return printJson(deleted);
    screenOn(process.stdout).line(
      env === undefined
        ? `Deleted ${projectRef}. Its keys and tokens are no longer valid.`
        : `Deleted ${env} of ${projectRef}. Its keys are no longer valid; \`millrace keys list --env ${env}\` shows the new one.`,
    );
  });

export const projectsCommand = (): Command =>
  new Command('projects')
    .description('manage projects and their environments')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(environmentsCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(deleteCommand());
