import { roles } from '@millrace/contract/plain';
import { Command, Option } from 'commander';
import { call } from '../call.ts';
import { findOrganization, withOrganizationOptions, type OrganizationOptions } from '../organization.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

export const inviteCommand = (): Command =>
  withOrganizationOptions(
    new Command('invite')
      .description('make an invitation and show its token once: no mail is sent')
      .argument('<address>', 'whom it is for, such as ada@example.com')
      .addOption(new Option('--role <role>', 'what they become').choices(roles).default('member')),
  ).action(async (email: string, options: OrganizationOptions & { role: string }) => {
    const { login, organization } = await findOrganization(options);
    const body = { email, role: options.role };
    const invited = await call(login, 'createInvitation', { params: { organization }, body });
    if (options.json) return printJson(invited);
    const { line } = screenOn(process.stdout);
    line(invited.token);
    line(`It is shown this once, and good for one use until ${invited.expiresAt}. Hand it over; they run:`);
    line(`  millrace login --url ${login.url} --invitation <token> --name <who they are>`);
  });

export const invitationsCommand = (): Command =>
  withOrganizationOptions(new Command('invitations').description('invitations that are still open')).action(
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
      .description('take an invitation back')
      .argument('<invitation>', 'its id (invite_…)'),
  ).action(async (invitationId: string, options: OrganizationOptions) => {
    const { login, organization } = await findOrganization(options);
    const params = { organization, invitationId };
    const revoked = await call(login, 'revokeInvitation', { params });
    if (options.json) return printJson(revoked);
    screenOn(process.stdout).line(`Took back the invitation of ${revoked.email}.`);
  });
