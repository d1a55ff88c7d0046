import { z } from 'zod';
import { operation } from '../operation.ts';
import { cursors, date, instant, pageSize } from './shapes.ts';

/** An administrative act: actor, action, target and origin. It never contains secrets. */
export const auditEntry = z.object({
  id: z.string(),
  at: date,
  /** An action such as `key.revoked` or `member.updated`. */
  act: z.string(),
  actor: z.object({
    kind: z.enum(['user', 'secretKey', 'invitation', 'provider']),
    /** The id of the user, the key or the invitation, or the issuer of an identity provider. */
    id: z.string(),
    /** The key or token that was used. */
    credentialId: z.string().optional(),
  }),
  /** The id of the object that was changed. */
  target: z.string(),
  projectRef: z.string().optional(),
  environment: z.string().optional(),
  /** The previous values of the changed fields. */
  old: z.record(z.string(), z.unknown()).optional(),
  /** The new values of the changed fields. */
  new: z.record(z.string(), z.unknown()).optional(),
  /** The IP address and the user agent of the request. */
  from: z.object({ address: z.string(), userAgent: z.string().optional() }),
  requestId: z.string(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

export const listAuditEntries = operation({
  id: 'listAuditEntries',
  method: 'GET',
  path: '/api/v1/orgs/:organization/audit',
  tag: 'audit',
  summary: "List an organization's administrative actions, newest first",
  access: { personalAccessToken: true, role: 'admin' },
  params: z.object({ organization: z.string().min(1).max(128) }),
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of an entry: the entries before it. */
    'page[after]': z
      .string()
      .regex(/^\d{1,18}$/, 'not the id of an entry')
      .optional(),
    'filter[act]': z.string().max(64).optional(),
    'filter[actor]': z.string().max(128).optional(),
    'filter[target]': z.string().max(128).optional(),
    'filter[projectRef]': z.string().max(128).optional(),
    'filter[from]': instant.optional(),
    'filter[to]': instant.optional(),
  }),
  reply: z.object({ data: z.array(auditEntry), pagination: cursors }),
  errors: [404],
});
