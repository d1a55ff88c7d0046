import { call } from '../../cli/call.ts';
import type { Shop } from '../shop.ts';

/** A member of the shop team. */
export interface Member {
  readonly name: string;
  readonly personalAccessToken: string;
}

const invited = [
  { name: 'Ines Duarte', role: 'admin' },
  { name: 'Tom Becker', role: 'member' },
  { name: 'Yuki Mori', role: 'member' },
  { name: 'Sam Carter', role: 'viewer' },
] as const;

/** Names the organization and adds some members. One more is invited. */
export async function addMembers({ url, personalAccessToken: token }: Shop): Promise<Member[]> {
  const login = { url, token };
  const [first] = await call(login, 'listOrganizations');
  if (!first) throw new Error('The token of the first start does not belong to an organization.');
  const params = { organization: first.id };
  await call(login, 'updateOrganization', { params, body: { name: 'Harbour & Hearth' } });
  const members: Member[] = [];
  for (const { name, role } of invited) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@shop.example`;
    const invitation = await call(login, 'createInvitation', { params, body: { email, role } });
    const body = { token: invitation.token, name };
    const { personalAccessToken } = await call({ url, token: '' }, 'joinByInvitation', { body });
    members.push({ name, personalAccessToken });
  }
  await call(login, 'createInvitation', { params, body: { email: 'lena@shop.example', role: 'member' } });
  return members;
}
