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
  withLoginOptions(new Command('list').description('the projects that you belong to')).action(
    async (options: Options) => {
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
    },
  );

const createCommand = (): Command =>
  withOrganizationOptions(
    new Command('create')
      .description('make a project with its four environments')
      .argument('<name>', 'what it is called'),
  ).action(async (name: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const project = await call(login, 'createProject', { params: { organization }, body: { name } });
    if (options.json) return printJson(project);
    screenOn(process.stdout).line(
      `Made ${project.externalRef}. Its keys: millrace keys list --project ${project.externalRef}`,
    );
  });

interface DeleteOptions extends Options {
  readonly env?: string;
  readonly confirm: string;
}

const deleteCommand = (): Command =>
  withLoginOptions(
    new Command('delete')
      .description('delete a project, or one environment of it, with everything in it, for good')
      .argument('<project>', 'its ref (proj_…)')
      .option('--env <environment>', 'only this environment; an empty one takes its place', environment)
      .requiredOption('--confirm <name>', 'the ref once more, or the name of the environment'),
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
        ? `Deleted ${projectRef}: its keys and tokens have ended.`
        : `Deleted ${env} of ${projectRef}. Its keys have ended; \`millrace keys list --env ${env}\` shows the new one.`,
    );
  });

export const projectsCommand = (): Command =>
  new Command('projects')
    .description('projects and their environments')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(environmentsCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(deleteCommand());
