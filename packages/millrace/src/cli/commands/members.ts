import { roles } from '@millrace/contract/plain';
import { Argument, Command } from 'commander';
import { call } from '../call.ts';
import { findOrganization, withOrganizationOptions, type OrganizationOptions } from '../organization.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';
import { setPasswordCommand } from './set-password.ts';
import { invitationsCommand, inviteCommand, uninviteCommand } from './invitations.ts';

const listCommand = (): Command =>
  withOrganizationOptions(new Command('list').description('list the members of an organization')).action(
    async (options: OrganizationOptions) => {
      const { login, organization } = await findOrganization(options);
      const members = await call(login, 'listMembers', { params: { organization } });
      if (options.json) return members.forEach(printJson);
      printTable(
        ['user', 'name', 'address', 'role', 'since'],
        members.map(({ userId, name, email = '', role, createdAt }) => [
          userId,
          name,
          email,
          role,
          createdAt,
        ]),
      );
    },
  );

const roleCommand = (): Command =>
  withOrganizationOptions(
    new Command('role')
      .description('change the role of a member')
      .argument('<user>', 'user ID (user_…)')
      .addArgument(new Argument('<role>', 'new role').choices(roles)),
  ).action(async (userId: string, role: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const params = { organization, userId };
    const changed = await call(login, 'updateMember', { params, body: { role } });
    if (options.json) return printJson(changed);
    screenOn(process.stdout).line(`${changed.name} now has the role ${changed.role}.`);
  });

const removeCommand = (): Command =>
  withOrganizationOptions(
    new Command('remove')
      .description('remove a member and their dev environments')
      .argument('<user>', 'user ID (user_…)'),
  ).action(async (userId: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const removed = await call(login, 'removeMember', { params: { organization, userId } });
    if (options.json) return printJson(removed);
    screenOn(process.stdout).line(`Removed ${removed.name}.`);
  });

export const membersCommand = (): Command =>
  new Command('members')
    .description('manage members and invitations, and your password')
    .addCommand(listCommand())
    .addCommand(inviteCommand())
    .addCommand(invitationsCommand())
    .addCommand(uninviteCommand())
    .addCommand(roleCommand())
    .addCommand(removeCommand())
    .addCommand(setPasswordCommand());
