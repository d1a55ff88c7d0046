import { Option, type Command } from 'commander';
import { call } from './call.ts';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { findLogin, withLoginOptions, type Login, type LoginOptions } from './login.ts';

export interface ProjectOptions extends LoginOptions {
  readonly project?: string;
  readonly json?: boolean;
}

/** The options of every command about a project. */
export const withProjectOptions = (command: Command): Command =>
  withLoginOptions(command).addOption(
    new Option('--project <ref>', 'project ref (proj_…); optional if you have only one').env(
      'MILLRACE_PROJECT_REF',
    ),
  );

/** Finds the user and the project: the given one, otherwise the only one. */
export async function findProject(options: ProjectOptions): Promise<{ login: Login; projectRef: string }> {
  const login = await findLogin(options);
  if (options.project !== undefined) return { login, projectRef: options.project };
  const projects = await call(login, 'listProjects');
  const [only] = projects;
  if (only && projects.length === 1) return { login, projectRef: only.externalRef };
  throw new CommandFailed(
    exitCodes.usage,
    projects.length === 0
      ? 'You have no project. Create one with `millrace projects create`.'
      : `Several projects. Pass --project: ${projects.map(({ name, externalRef }) => `${externalRef} (${name})`).join(', ')}.`,
  );
}
