import type { Queryable } from '../db/connect.ts';
import type { Origin } from '../request.ts';
import type { Environment, Principal } from '../auth/principal.ts';

/** Who acts, and from where. A `Request` is one. */
export interface Actor {
  readonly principal: Principal;
  readonly origin: Origin;
}

/** Who is nobody yet: the holder of an invitation. */
export interface Invited {
  readonly invitation: string;
  readonly origin: Origin;
}

/** An administrative act. Secrets have no place in it: neither in `old` nor in `new`. */
export interface Act {
  /** Noun and past participle: `key.revoked`. */
  readonly act: string;
  /** The id of what it was done to. */
  readonly target: string;
  /** Whose log it belongs in: that of an organisation, or of the one that a project belongs to. */
  readonly in:
    | { readonly organization: string }
    | { readonly projectRef: string; readonly environment?: string };
  readonly old?: Readonly<Record<string, unknown>> | undefined;
  readonly new?: Readonly<Record<string, unknown>> | undefined;
}

/** Records an act in the transaction that does it: there is none without its entry. */
export async function recordAct(sql: Queryable, by: Actor | Invited, act: Act): Promise<void> {
  const { kind, id, credentialId } = actorOf(by);
  const { address, userAgent, requestId } = by.origin;
  const projectRef = 'projectRef' in act.in ? act.in.projectRef : null;
  const organization = 'organization' in act.in ? act.in.organization : null;
  const environment = 'environment' in act.in ? (act.in.environment ?? null) : null;
  await sql`
    insert into audit_log (organization_id, project_ref, environment, act, actor_kind, actor_id, credential_id, target, old, new,
      address, user_agent, request_id)
    select coalesce(${organization}::text, (select organization_id from projects where ref = ${projectRef}::text)),
      ${projectRef}, ${environment}, ${act.act}, ${kind}, ${id}, ${credentialId}, ${act.target},
      ${jsonOf(act.old)}::jsonb, ${jsonOf(act.new)}::jsonb, ${address}, ${userAgent ?? null}, ${requestId}`;
}

/** Records what a request does in an environment. It is given to the verb, whose transaction it must be. */
export type RecordHere = (sql: Queryable, act: Omit<Act, 'in'>) => Promise<void>;

/** For acts of `by` in `environment`; of which branch, the facts tell. */
export const recordHere =
  ({ projectRef, kind, branch }: Environment, by: Actor): RecordHere =>
  (sql, { old, new: now, ...act }) =>
    recordAct(sql, by, {
      ...act,
      in: { projectRef, environment: kind },
      old,
      new: branch === null ? now : { ...now, branch },
    });

const jsonOf = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value, (_name, part: unknown) => storable(part));

/** What callers named may hold characters that no jsonb can: an act must not fail for its entry. */
const storable = (part: unknown): unknown =>
  typeof part === 'string' ? part.replaceAll('\0', '').toWellFormed() : part;

function actorOf(by: Actor | Invited): { kind: string; id: string; credentialId: string | null } {
  if ('invitation' in by) return { kind: 'invitation', id: by.invitation, credentialId: null };
  const { principal } = by;
  if (principal.kind === 'personalAccessToken') {
    return { kind: 'user', id: principal.userId, credentialId: principal.credentialId };
  }
  if (principal.kind === 'publicToken' && principal.actor !== undefined) {
    return { kind: 'user', id: principal.actor, credentialId: principal.credentialId };
  }
  return { kind: 'secretKey', id: principal.credentialId, credentialId: principal.credentialId };
}
