import type { Role } from '@millrace/contract';
import { roleNames } from '../../../api/session.ts';

const hints: Readonly<Record<Role, string>> = {
  viewer: 'sees everything except secret values, and changes nothing.',
  member: 'also triggers, cancels, deploys, and changes variables, queues and schedules.',
  admin: 'also creates keys, invites and removes members, and reads the audit log.',
  owner: 'also assigns the owner role, and deletes projects.',
};

/** The roles with their display names, lowest first. */
export const roleOptions = (Object.keys(hints) as Role[]).map((value) => ({
  value,
  label: roleNames[value],
  hint: hints[value],
}));
