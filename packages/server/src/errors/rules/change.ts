import { maxErrorRules, type Body, type ErrorRule, type Operations } from '@millrace/contract';
import { recordAct, type Actor } from '../../audit/record.ts';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import { notFound, unprocessable } from '../../problem.ts';
import { lockProject } from '../../auth/lock-project.ts';
import { arrange, ruleOf, rulesIn } from './row.ts';

interface Changing {
  readonly projectRef: string;
  readonly now: Date;
  readonly by: Actor;
}

export const listRules = async (sql: Queryable, projectRef: string): Promise<ErrorRule[]> =>
  (await rulesIn(sql, projectRef)).map(ruleOf);

/** Adds a rule, at the end unless it has a position. */
export const createRule = (
  sql: Sql,
  { projectRef, now, by }: Changing,
  { position, groupKey, ...patterns }: Body<Operations['createErrorRule']>,
): Promise<ErrorRule> =>
  sql.begin(async (tx) => {
    const project = await lockProject(tx, projectRef);
    if (project === undefined) throw notFound();
    const before = await rulesIn(tx, projectRef);
    if (before.length >= maxErrorRules) {
      throw unprocessable(
        `A project has at most ${maxErrorRules} rules; delete an unused one.`,
        'limit_reached',
      );
    }
    const id = newId('rule');
    const { task = null, type = null, message = null } = patterns;
    await tx`
      insert into error_rules (id, project_id, position, task, type, message, group_key, created_at, updated_at)
      values (${id}, ${project}, ${before.length + 1}, ${task}, ${type}, ${message}, ${groupKey}, ${now}, ${now})`;
    const ids = before.map((rule) => rule.id);
    ids.splice((position ?? ids.length + 1) - 1, 0, id);
    await arrange(tx, ids);
    const rule = await oneOf(tx, projectRef, id);
    await recordAct(tx, by, {
      act: 'errorRule.created',
      target: id,
      in: { projectRef },
      new: propertiesOf(rule),
    });
    return rule;
  });

/** Changes the given fields. */
export const updateRule = (
  sql: Sql,
  { projectRef, now, by }: Changing,
  id: string,
  { position, ...changes }: Body<Operations['updateErrorRule']>,
): Promise<ErrorRule> =>
  sql.begin(async (tx) => {
    await lockProject(tx, projectRef);
    const old = await oneOf(tx, projectRef, id);
    const { task, type, message, groupKey } = { ...old, ...changes };
    if (task === null && type === null && message === null) {
      throw unprocessable('A rule needs a pattern: set task, type or message.');
    }
    await tx`
      update error_rules set task = ${task}, type = ${type}, message = ${message}, group_key = ${groupKey}, updated_at = ${now}
       where id = ${id}`;
    if (position !== undefined) {
      const ids = (await rulesIn(tx, projectRef)).map((rule) => rule.id).filter((other) => other !== id);
      ids.splice(position - 1, 0, id);
      await arrange(tx, ids);
    }
    const rule = await oneOf(tx, projectRef, id);
    await recordAct(tx, by, {
      act: 'errorRule.updated',
      target: id,
      in: { projectRef },
      old: propertiesOf(old),
      new: propertiesOf(rule),
    });
    return rule;
  });

/** Failures that the rule has grouped stay in their groups. */
export const deleteRule = (sql: Sql, { projectRef, by }: Changing, id: string): Promise<void> =>
  sql.begin(async (tx) => {
    await lockProject(tx, projectRef);
    const old = await oneOf(tx, projectRef, id);
    await tx`delete from error_rules where id = ${id}`;
    await recordAct(tx, by, {
      act: 'errorRule.deleted',
      target: id,
      in: { projectRef },
      old: propertiesOf(old),
    });
  });

async function oneOf(tx: Transaction, projectRef: string, id: string): Promise<ErrorRule> {
  const row = (await rulesIn(tx, projectRef)).find((rule) => rule.id === id);
  if (!row) throw notFound('Rule not found');
  return ruleOf(row);
}

const propertiesOf = ({ position, task, type, message, groupKey }: ErrorRule) => ({
  position,
  task,
  type,
  message,
  groupKey,
});
