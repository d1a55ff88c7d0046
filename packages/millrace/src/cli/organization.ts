import { Option, type Command } from 'commander';
import { call } from './call.ts';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { findLogin, withLoginOptions, type Login, type LoginOptions } from './login.ts';

export interface OrganizationOptions extends LoginOptions {
  readonly org?: string;
  readonly json?: boolean;
}

/** The options of every command about an organization. */
export const withOrganizationOptions = (command: Command): Command =>
  withLoginOptions(command).addOption(
    new Option('--org <id>', 'organization ID (org_…); optional if you belong to only one'),
  );

/** Finds the user and the organization: the given one, otherwise the only one. */
export async function findOrganization(
  options: OrganizationOptions,
): Promise<{ login: Login; organization: string }> {
  const login = await findLogin(options);
  if (options.org !== undefined) return { login, organization: options.org };
  const organizations = await call(login, 'listOrganizations');
  const [only] = organizations;
  if (only && organizations.length === 1) return { login, organization: only.id };
  throw new CommandFailed(
    exitCodes.usage,
    organizations.length === 0
      ? 'You are not a member of an organization. Create one with `millrace orgs create`.'
      : `Several organizations. Pass --org: ${organizations.map(({ id, name }) => `${id} (${name})`).join(', ')}.`,
  );
}
