import type { OperationDeclaration } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { asProblem } from '../problem.ts';
import type { Handler, Request } from '../request.ts';
import { recordEntry } from './record.ts';

/** The header in which a client names the agent it acts for, such as `mcp claude-code/2.1`. */
const agentHeader = 'x-millrace-agent';
/** Maximum ids of created objects in one entry. */
const maxIds = 100;

type AnyHandlers = Readonly<Record<string, unknown>>;

/**
 * Wraps the handlers so that each changing request with a secret key that names an agent gets an entry in the audit log. For other requests the
 * cost is one check of their headers.
 *
 * The entry is written before the change, so that no change lacks one, and deleted if the change is rejected. If the server dies in between,
 * the entry remains.
 */
export function recordAgents<H extends object>(
  sql: Sql,
  operations: Readonly<Record<string, OperationDeclaration>>,
  handlers: H,
): H {
  const entries = Object.entries(handlers as AnyHandlers).map(([name, handler]) => {
    const declaration = operations[name];
    const { method = 'GET', access } = declaration ?? {};
    if (method === 'GET' || method === 'HEAD' || access?.secretKey !== true) return [name, handler];
    return [name, recorded(sql, name, handler as Handler<OperationDeclaration>)];
  });
  // Each handler behaves as before, except for the entry.
  return Object.fromEntries(entries) as H;
}

const recorded =
  (sql: Sql, operation: string, handler: Handler<OperationDeclaration>): Handler<OperationDeclaration> =>
  (request) => {
    const agent = request.header(agentHeader);
    return agent === undefined || request.principal.kind !== 'secretKey'
      ? handler(request)
      : withEntry(sql, operation, agent, request, handler);
  };

async function withEntry(
  sql: Sql,
  operation: string,
  agent: string,
  request: Request<OperationDeclaration>,
  handler: Handler<OperationDeclaration>,
): Promise<unknown> {
  const { projectRef, kind, branch } = request.environment;
  const params = Object.values((request.params as Record<string, string> | undefined) ?? {});
  const entry = await recordEntry(sql, request, {
    act: 'agent.acted',
    target: (params[0] ?? operation).slice(0, 128),
    in: { projectRef, environment: kind },
    new: { agent: agent.slice(0, 128), operation, ...(branch !== null && { branch }) },
  });
  try {
    const reply = await handler(request);
    const ids = idsOf(reply);
    if (ids.length > 0)
      await sql`update audit_log set new = new || jsonb_build_object('ids', ${ids}::text[]) where id = ${entry}`;
    return reply;
  } catch (error) {
    // After other errors, it is unknown which changes were made.
    if ((asProblem(error)?.status ?? 500) < 500) await sql`delete from audit_log where id = ${entry}`;
    throw error;
  }
}

/** Ids of the created or changed objects, from the reply. */
function idsOf(reply: unknown): string[] {
  const { id, results } = Object(reply) as { id?: unknown; results?: unknown };
  const all: unknown[] = Array.isArray(results)
    ? results.map((result) => (Object(result) as { id?: unknown }).id)
    : [id];
  return all.filter((value): value is string => typeof value === 'string').slice(0, maxIds);
}
