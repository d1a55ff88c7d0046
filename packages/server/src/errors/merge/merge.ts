import { maxFingerprints, type ErrorGroupDetail } from '@millrace/contract';
import { userBehind } from '../../auth/principal.ts';
import type { Sql, Transaction } from '../../db/connect.ts';
import { notFound, unprocessable } from '../../problem.ts';
import { changing, currentId, type ChangeRequest, type Change } from '../life/change.ts';
import { isErrorId, retrieveErrorGroup } from '../list/retrieve.ts';
import { assignmentState } from '../ownership/read.ts';

export interface Merge extends ChangeRequest {
  /** Ids of the groups to merge into this one. */
  readonly errors: readonly string[];
}

/**
 * Merges other groups into one: it receives their fingerprints, with all past and future counts, and their ids resolve to it. It keeps its
 * own state; theirs are recorded in the audit log. Only groups of one task can be merged. Undefined if the group itself is unknown.
 */
export const mergeErrorGroups = (sql: Sql, request: Merge): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, async (tx, change) => {
    const { env, id, now, principal } = change;
    const others = await othersOf(tx, change, request.errors);
    if (others.length === 0) return retrieveErrorGroup(tx, env, id, now);
    await refuseUnlike(tx, change, others);
    await tx`
      insert into error_audit (env, group_id, at, act, user_id, credential_id, before)
      select g.env, g.id, ${now}, 'merged', ${userBehind(principal)}, ${principal.credentialId},
             error_state(g) || ${assignmentState(tx)} || case when g.id = ${id} then jsonb_build_object('errors', to_jsonb(${others}::text[]))
                                    else jsonb_build_object('into', ${id}::text) end
        from error_groups g where g.env = ${env} and g.id = any(${[id, ...others]}) order by g.id = ${id}, g.id`;
    await tx`delete from error_assignments where env = ${env} and group_id = any(${others})`;
    await tx`
      update error_fingerprints set group_id = ${id} where env = ${env} and group_id = any(${others})`;
    await tx`
      update error_groups g
         set total = g.total + o.total, ignored_from_total = g.ignored_from_total + o.total,
             first_seen = least(g.first_seen, o.first_seen), last_seen = greatest(g.last_seen, o.last_seen)
        from (select sum(total)::bigint as total, min(first_seen) as first_seen, max(last_seen) as last_seen
                from error_groups where env = ${env} and id = any(${others})) o
       where g.env = ${env} and g.id = ${id}`;
    // Ids of groups that were merged into one of them resolve to this group too.
    await tx`
      update error_groups
         set merged_into = ${id}, total = 0, status = 'unresolved', resolved_at = null, resolved_in_version = null, resolved_by = null,
             ignored_at = null, ignored_until = null, ignored_reason = null, ignored_by = null, ignored_until_rate = null,
             ignored_until_total = null, ignored_from_total = null
       where env = ${env} and (id = any(${others}) or merged_into = any(${others}))`;
    return retrieveErrorGroup(tx, env, id, now);
  });

/** The groups that the ids currently resolve to, except the merge target. */
async function othersOf(tx: Transaction, { env, id }: Change, errors: readonly string[]): Promise<string[]> {
  const others = new Set<string>();
  for (const error of errors) {
    const current = isErrorId(error) ? await currentId(tx, env, error) : undefined;
    if (current === undefined) throw notFound(`errors: error group ${error.slice(0, 40)} not found`);
    if (current !== id) others.add(current);
  }
  return [...others];
}

async function refuseUnlike(tx: Transaction, { env, id }: Change, others: readonly string[]): Promise<void> {
  const tasks = await tx<{ id: string; task: string; fingerprints: number }[]>`
    select g.id, g.task,
           (select count(*)::int from error_fingerprints f where f.env = g.env and f.group_id = g.id) as fingerprints
      from error_groups g where g.env = ${env} and g.id = any(${[id, ...others]}) order by g.id <> ${id}`;
  const [into] = tasks;
  const other = tasks.find((group) => group.task !== into?.task);
  if (into && other) {
    throw unprocessable(
      `errors: ${other.id} belongs to the task ${other.task} and ${into.id} to ${into.task}; only groups of the same task can be merged`,
    );
  }
  if (tasks.reduce((sum, group) => sum + group.fingerprints, 0) > maxFingerprints) {
    throw unprocessable(
      `errors: a group can have at most ${maxFingerprints} fingerprints; add a rule for future errors instead`,
      'limit_reached',
    );
  }
}
