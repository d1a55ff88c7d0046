import { z } from 'zod';
import { roles } from '../access.ts';
import { operation } from '../operation.ts';
import { date, nameOf } from './shapes.ts';

const name = nameOf(128);
const inOrganization = z.object({ organization: z.string().min(1).max(128) });
const role = z.enum(roles);

export const organization = z.object({ id: z.string(), name: z.string(), role, createdAt: date });
export type Organization = z.infer<typeof organization>;

export const listOrganizations = operation({
  id: 'listOrganizations',
  method: 'GET',
  path: '/api/v1/orgs',
  tag: 'organizations',
  summary: "List the user's organizations",
  access: { personalAccessToken: true },
  reply: z.array(organization),
});

export const createOrganization = operation({
  id: 'createOrganization',
  method: 'POST',
  path: '/api/v1/orgs',
  tag: 'organizations',
  summary: 'Create an organization that the user owns',
  access: { personalAccessToken: true },
  body: z.object({ name }),
  reply: organization,
});

export const updateOrganization = operation({
  id: 'updateOrganization',
  method: 'PATCH',
  path: '/api/v1/orgs/:organization',
  tag: 'organizations',
  summary: 'Rename an organization',
  access: { personalAccessToken: true, role: 'admin' },
  params: inOrganization,
  body: z.object({ name }),
  reply: organization,
  errors: [404],
});

export const member = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string().optional(),
  role,
  createdAt: date,
});
export type Member = z.infer<typeof member>;

export const listMembers = operation({
  id: 'listMembers',
  method: 'GET',
  path: '/api/v1/orgs/:organization/members',
  tag: 'organizations',
  summary: "List an organization's members",
  access: { personalAccessToken: true, role: 'viewer' },
  params: inOrganization,
  reply: z.array(member),
  errors: [404],
});

const oneMember = inOrganization.extend({ userId: z.string().min(1).max(128) });

export const updateMember = operation({
  id: 'updateMember',
  method: 'PATCH',
  path: '/api/v1/orgs/:organization/members/:userId',
  tag: 'organizations',
  summary: "Change a member's role. Only owners assign or remove the owner role, and one owner must remain",
  access: { personalAccessToken: true, role: 'admin' },
  params: oneMember,
  body: z.object({ role }),
  reply: member,
  errors: [404, 422],
});

export const removeMember = operation({
  id: 'removeMember',
  method: 'DELETE',
  path: '/api/v1/orgs/:organization/members/:userId',
  tag: 'organizations',
  summary:
    'Remove a member; keys that they created are kept. Only owners remove owners, and one owner must remain',
  access: { personalAccessToken: true, role: 'admin' },
  params: oneMember,
  reply: member,
  errors: [404, 422],
});

export const leaveOrganization = operation({
  id: 'leaveOrganization',
  method: 'POST',
  path: '/api/v1/orgs/:organization/leave',
  tag: 'organizations',
  summary: 'Leave an organization; the last owner cannot',
  access: { personalAccessToken: true, role: 'viewer' },
  params: inOrganization,
  reply: member,
  errors: [404, 422],
});

export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  createdAt: date,
  expiresAt: date,
});
export type Invitation = z.infer<typeof invitation>;

export const listInvitations = operation({
  id: 'listInvitations',
  method: 'GET',
  path: '/api/v1/orgs/:organization/invites',
  tag: 'organizations',
  summary: 'List open invitations',
  access: { personalAccessToken: true, role: 'admin' },
  params: inOrganization,
  reply: z.array(invitation),
  errors: [404],
});

export const createInvitation = operation({
  id: 'createInvitation',
  method: 'POST',
  path: '/api/v1/orgs/:organization/invites',
  tag: 'organizations',
  summary:
    'Create an invitation. The response contains a token, valid for seven days and one use, to pass on: no email is sent',
  access: { personalAccessToken: true, role: 'admin' },
  params: inOrganization,
  body: z.object({ email: z.email().max(320), role: role.default('member') }),
  reply: invitation.extend({ token: z.string() }),
  errors: [404, 422],
});

export const revokeInvitation = operation({
  id: 'revokeInvitation',
  method: 'POST',
  path: '/api/v1/orgs/:organization/invites/:invitationId/revoke',
  tag: 'organizations',
  summary: 'Revoke an invitation',
  access: { personalAccessToken: true, role: 'admin' },
  params: inOrganization.extend({ invitationId: z.string().min(1).max(128) }),
  reply: invitation,
  errors: [404],
});

const invitationToken = z.string().min(1).max(128);

export const acceptInvitation = operation({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/api/v1/invites/accept',
  tag: 'organizations',
  summary: 'Join an organization as the current user',
  access: { personalAccessToken: true },
  body: z.object({ token: invitationToken }),
  reply: organization,
  errors: [404],
});

export const joinByInvitation = operation({
  id: 'joinByInvitation',
  method: 'POST',
  path: '/api/v1/invites/join',
  tag: 'organizations',
  summary: 'Join an organization as a new user, who receives a personal access token',
  access: { open: true },
  body: z.object({ token: invitationToken, name }),
  reply: z.object({ userId: z.string(), organization, personalAccessToken: z.string() }),
  errors: [404],
});
