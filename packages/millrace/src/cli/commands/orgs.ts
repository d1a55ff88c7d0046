import { Command } from 'commander';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { findOrganization, withOrganizationOptions, type OrganizationOptions } from '../organization.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

type Options = LoginOptions & { readonly json?: boolean };

const listCommand = (): Command =>
  withLoginOptions(new Command('list').description('list your organizations')).action(
    async (options: Options) => {
      const organizations = await call(await findLogin(options), 'listOrganizations');
      if (options.json) return organizations.forEach(printJson);
      printTable(
        ['organization', 'name', 'your role', 'made'],
        organizations.map(({ id, name, role, createdAt }) => [id, name, role, createdAt]),
      );
    },
  );

const createCommand = (): Command =>
  withLoginOptions(
    new Command('create')
      .description('create an organization that you own')
      .argument('<name>', 'name of the organization'),
  ).action(async (name: string, options: Options) => {
    const created = await call(await findLogin(options), 'createOrganization', { body: { name } });
    if (options.json) return printJson(created);
    screenOn(process.stdout).line(
      `Created ${created.id}. To add a project: millrace projects create <name> --org ${created.id}`,
    );
  });

const renameCommand = (): Command =>
  withOrganizationOptions(
    new Command('rename')
      .description('rename an organization')
      .argument('<name>', 'new name of the organization'),
  ).action(async (name: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const params = { organization };
    const renamed = await call(login, 'updateOrganization', { params, body: { name } });
    if (options.json) return printJson(renamed);
    screenOn(process.stdout).line(`Renamed ${renamed.id} to ${renamed.name}.`);
  });

const joinCommand = (): Command =>
  withLoginOptions(
    new Command('join')
      .description('join an organization with an invitation')
      .argument('<token>', 'invitation token (svc_inv_…)'),
  ).action(async (token: string, options: Options) => {
    const joined = await call(await findLogin(options), 'acceptInvitation', { body: { token } });
    if (options.json) return printJson(joined);
    screenOn(process.stdout).line(`Joined ${joined.name} (${joined.id}) as ${joined.role}.`);
  });

const leaveCommand = (): Command =>
  withOrganizationOptions(
    new Command('leave').description('leave an organization and delete your dev environments'),
  ).action(async (options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const left = await call(login, 'leaveOrganization', { params: { organization } });
    if (options.json) return printJson(left);
    screenOn(process.stdout).line(`Left ${organization}.`);
  });

export const orgsCommand = (): Command =>
  new Command('orgs')
    .description('manage organizations')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(renameCommand())
    .addCommand(joinCommand())
    .addCommand(leaveCommand());
