import type { OperationsOf } from '@millrace/contract';
import { isUser, type Principal } from '../../auth/principal.ts';
import { otherProject, seenBy } from '../../auth/target.ts';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { HandlersOf } from '../../request.ts';
import { createRule, deleteRule, listRules, updateRule } from './change.ts';
import { previewRule } from './preview.ts';

interface Addressed {
  readonly principal: Principal;
  readonly params: { readonly projectRef: string };
}

/** A secret key is valid only for its own project. A user's role has been checked before. */
function projectOf({ principal, params: { projectRef } }: Addressed): string {
  if (!isUser(principal) && principal.environment.projectRef !== projectRef) {
    throw otherProject(principal.environment.projectRef);
  }
  return projectRef;
}

/** A project's environments, without the dev environments of other members. */
async function environmentsSeen(sql: Sql, projectRef: string, userId: string): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select e.id from environments e join projects p on p.id = e.project_id left join environments parent on parent.id = e.parent_id
     where p.ref = ${projectRef} and e.archived_at is null and ${seenBy(sql, userId)} order by e.id`;
  return rows.map((row) => row.id);
}

export function ruleHandlers(sql: Sql, clock: Pick<Clock, 'now'>): HandlersOf<OperationsOf<'errorRules'>> {
  const now = () => new Date(clock.now());
  return {
    listErrorRules: async (request) => ({ data: await listRules(sql, projectOf(request)) }),

    createErrorRule: (request) =>
      createRule(sql, { projectRef: projectOf(request), now: now(), by: request }, request.body),

    updateErrorRule: (request) =>
      updateRule(
        sql,
        { projectRef: projectOf(request), now: now(), by: request },
        request.params.ruleId,
        request.body,
      ),

    async deleteErrorRule(request) {
      await deleteRule(
        sql,
        { projectRef: projectOf(request), now: now(), by: request },
        request.params.ruleId,
      );
      return { success: true };
    },

    async previewErrorRule(request) {
      const projectRef = projectOf(request);
      const { principal } = request;
      const envs = isUser(principal)
        ? await environmentsSeen(sql, projectRef, principal.userId)
        : [principal.environment.id];
      return previewRule(sql, envs, request.body, now());
    },
  };
}
