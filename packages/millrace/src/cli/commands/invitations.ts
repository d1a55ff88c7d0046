import { roles } from '@millrace/contract/plain';
import { Command, Option } from 'commander';
import { call } from '../call.ts';
import { findOrganization, withOrganizationOptions, type OrganizationOptions } from '../organization.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

export const inviteCommand = (): Command =>
  withOrganizationOptions(
    new Command('invite')
      .description('create an invitation and print its token once')
      .argument('<email>', 'email address of the new member, such as ada@example.com')
      .addOption(new Option('--role <role>', 'role of the new member').choices(roles).default('member')),
  ).action(async (email: string, options: OrganizationOptions & { role: string }) => {
    const { login, organization } = await findOrganization(options);
    const body = { email, role: options.role };
    const invited = await call(login, 'createInvitation', { params: { organization }, body });
    if (options.json) return printJson(invited);
    const { line } = screenOn(process.stdout);
    line(invited.token);
    line(
      `The token is shown only once and can be used once, until ${invited.expiresAt}. The new member runs:`,
    );
    line(`  millrace login --url ${login.url} --invitation <token> --name <their name>`);
  });

export const invitationsCommand = (): Command =>
  withOrganizationOptions(new Command('invitations').description('list open invitations')).action(
    async (options: OrganizationOptions) => {
      const { login, organization } = await findOrganization(options);
      const invitations = await call(login, 'listInvitations', { params: { organization } });
      if (options.json) return invitations.forEach(printJson);
      printTable(
        ['invitation', 'address', 'role', 'until'],
        invitations.map(({ id, email, role, expiresAt }) => [id, email, role, expiresAt]),
      );
    },
  );

export const uninviteCommand = (): Command =>
  withOrganizationOptions(
    new Command('uninvite')
      .description('revoke an invitation')
      .argument('<invitation>', 'invitation ID (invite_…)'),
  ).action(async (invitationId: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const params = { organization, invitationId };
    const revoked = await call(login, 'revokeInvitation', { params });
    if (options.json) return printJson(revoked);
    screenOn(process.stdout).line(`Revoked the invitation of ${revoked.email}.`);
  });
