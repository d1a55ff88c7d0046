import type { ErrorGroupDetail } from '@millrace/contract';
import { userBehind } from '../../auth/principal.ts';
import type { Sql } from '../../db/connect.ts';
import { notFound, unprocessable } from '../../problem.ts';
import { changing, type ChangeRequest } from '../life/change.ts';
import { retrieveErrorGroup } from '../list/retrieve.ts';
import { assignmentState } from '../ownership/read.ts';

export interface Split extends ChangeRequest {
  readonly fingerprints: readonly string[];
}

/**
 * Moves fingerprints out of a group into a separate one, with all their past and future counts. The new group belongs to the first of them,
 * with the id that it had or would have had. It starts in the state of the original group, so that a split neither reopens nor hides
 * anything. Undefined if the group is unknown.
 */
export const splitErrorGroup = (sql: Sql, request: Split): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, async (tx, { env, id, now, principal }) => {
    const { fingerprints } = request;
    // The group's own fingerprint is the one that it started with or, if that never occurred, the displayed one.
    const moved = await tx<{ id: number; fingerprint: string; own_group: string; own: boolean }[]>`
      select f.id, f.fingerprint, f.own_group, f.own_group = g.id or f.fingerprint = g.fingerprint as own
        from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.group_id
       where f.env = ${env} and f.group_id = ${id} and f.fingerprint = any(${[...fingerprints]})
         and f.last_seen is not null
       order by array_position(${[...fingerprints]}::text[], f.fingerprint)`;
    const missing = fingerprints.find((fingerprint) => !moved.some((row) => row.fingerprint === fingerprint));
    if (missing !== undefined) throw notFound(`fingerprints: the group has no ${missing.slice(0, 64)}`);
    const own = moved.find((row) => row.own);
    if (own) {
      throw unprocessable(
        `fingerprints: ${own.fingerprint} is the group's own and cannot be moved; move the others out instead`,
      );
    }
    const [first] = moved;
    if (first === undefined) throw notFound('fingerprints: must contain at least one');
    const ids = moved.map((row) => row.id);
    const part = first.own_group;
    await tx`
      insert into error_audit (env, group_id, at, act, user_id, credential_id, before)
      select g.env, g.id, ${now}, 'split', ${userBehind(principal)}, ${principal.credentialId},
             error_state(g) || ${assignmentState(tx)} || jsonb_build_object('fingerprints', to_jsonb(${[...fingerprints]}::text[]), 'into', ${part}::text)
        from error_groups g where g.env = ${env} and g.id = ${id}`;
    await tx`update error_fingerprints set group_id = ${part} where id = any(${ids})`;
    await tx`
      insert into error_groups as p
        (env, id, fingerprint, number, task, type, message, total, first_seen, last_seen, status, resolved_at, resolved_in_version,
         resolved_by, ignored_at, ignored_until, ignored_reason, ignored_by, ignored_until_rate, ignored_until_total, ignored_from_total)
      select g.env, ${part}, f.fingerprint, f.id, g.task, s.type, s.message, c.total, c.first_seen, c.last_seen, g.status, g.resolved_at,
             g.resolved_in_version, g.resolved_by, g.ignored_at, g.ignored_until, g.ignored_reason, g.ignored_by,
             g.ignored_until_rate, g.ignored_until_total, case when g.ignored_from_total is not null then c.total end
        from error_groups g
        join error_fingerprints f on f.id = ${first.id}
        join error_samples s on s.fingerprint_id = f.id
       cross join (select sum(total)::bigint as total, min(first_seen) as first_seen, max(last_seen) as last_seen
                     from error_fingerprints where id = any(${ids})) c
       where g.env = ${env} and g.id = ${id}
      on conflict (env, id) do update set
        merged_into = null, total = excluded.total, first_seen = excluded.first_seen, last_seen = excluded.last_seen,
        status = excluded.status, resolved_at = excluded.resolved_at, resolved_in_version = excluded.resolved_in_version,
        resolved_by = excluded.resolved_by, ignored_at = excluded.ignored_at, ignored_until = excluded.ignored_until,
        ignored_reason = excluded.ignored_reason, ignored_by = excluded.ignored_by,
        ignored_until_rate = excluded.ignored_until_rate, ignored_until_total = excluded.ignored_until_total,
        ignored_from_total = excluded.ignored_from_total`;
    await tx`
      insert into error_assignments (env, group_id, organization_id, member_id, owner, note, ticket_url)
      select env, ${part}, organization_id, member_id, owner, note, ticket_url from error_assignments where env = ${env} and group_id = ${id}`;
    await tx`
      insert into error_texts (env, group_id, number, type, message)
      select env, id, number, type, message from error_groups where env = ${env} and id = ${part} on conflict do nothing`;
    await tx`
      update error_groups g
         set total = g.total - p.total, ignored_from_total = g.ignored_from_total - p.total,
             first_seen = c.first_seen, last_seen = c.last_seen
        from error_groups p
       cross join (select min(first_seen) as first_seen, max(last_seen) as last_seen
                     from error_fingerprints where env = ${env} and group_id = ${id}) c
       where g.env = ${env} and g.id = ${id} and p.env = ${env} and p.id = ${part}`;
    // Ids that resolved to this group because of the moved fingerprints now resolve to the new group.
    await tx`
      update error_groups set merged_into = ${part}
       where env = ${env} and merged_into = ${id} and fingerprint = any(${[...fingerprints]})`;
    return retrieveErrorGroup(tx, env, part, now);
  });
