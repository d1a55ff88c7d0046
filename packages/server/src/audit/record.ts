import type { Queryable } from '../db/connect.ts';
import type { Origin } from '../request.ts';
import { userBehind, type Environment, type Principal } from '../auth/principal.ts';

/** The actor and their address. A `Request` is an actor. */
export interface Actor {
  readonly principal: Principal;
  readonly origin: Origin;
}

/** The holder of an invitation, who is not a user yet. */
export interface Invited {
  readonly invitation: string;
  readonly origin: Origin;
}

/** An identity provider, which adds, changes and removes the members of an organization. */
export interface Provided {
  readonly issuer: string;
  readonly origin: Origin;
}

/** An administrative act. `old` and `new` must not contain secrets. */
export interface Act {
  /** Noun and past participle: `key.revoked`. */
  readonly act: string;
  /** The id of the changed object. */
  readonly target: string;
  /** Selects the audit log: an organization's, or that of a project's organization. */
  readonly in:
    | { readonly organization: string }
    | { readonly projectRef: string; readonly environment?: string };
  readonly old?: Readonly<Record<string, unknown>> | undefined;
  readonly new?: Readonly<Record<string, unknown>> | undefined;
}

/** Records an act, in the same transaction as the act itself. */
export async function recordAct(sql: Queryable, by: Actor | Invited | Provided, act: Act): Promise<void> {
  await recordEntry(sql, by, act);
}

/** Records an act like `recordAct` and returns the id of the entry. */
export async function recordEntry(sql: Queryable, by: Actor | Invited | Provided, act: Act): Promise<string> {
  const { kind, id, credentialId } = actorOf(by);
  const { address, userAgent, requestId } = by.origin;
  const projectRef = 'projectRef' in act.in ? act.in.projectRef : null;
  const organization = 'organization' in act.in ? act.in.organization : null;
  const environment = 'environment' in act.in ? (act.in.environment ?? null) : null;
  const [entry] = await sql<{ id: string }[]>`
    insert into audit_log (organization_id, project_ref, environment, act, actor_kind, actor_id, credential_id, target, old, new,
      address, user_agent, request_id)
    select coalesce(${organization}::text, (select organization_id from projects where ref = ${projectRef}::text)),
      ${projectRef}, ${environment}, ${act.act}, ${kind}, ${id}, ${credentialId}, ${act.target},
      ${jsonOf(act.old)}::jsonb, ${jsonOf(act.new)}::jsonb, ${address}, ${userAgent ?? null}, ${requestId}
    returning id`;
  return (entry as { id: string }).id;
}

/** Records an action of a request in an environment. The operation calls it in its own transaction. */
export type RecordHere = (sql: Queryable, act: Omit<Act, 'in'>) => Promise<void>;

/** Records actions of `by` in `environment`. A branch is recorded in `new`. */
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

/** Removes characters that jsonb cannot store, so that recording never makes an act fail. */
const storable = (part: unknown): unknown =>
  typeof part === 'string' ? part.replaceAll('\0', '').toWellFormed() : part;

function actorOf(by: Actor | Invited | Provided): { kind: string; id: string; credentialId: string | null } {
  if ('invitation' in by) return { kind: 'invitation', id: by.invitation, credentialId: null };
  if ('issuer' in by) return { kind: 'provider', id: by.issuer, credentialId: null };
  const { principal } = by;
  const { credentialId } = principal;
  const user = userBehind(principal);
  return user === null
    ? { kind: 'secretKey', id: credentialId, credentialId }
    : { kind: 'user', id: user, credentialId };
}
