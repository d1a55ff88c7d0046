import type { ErrorRulePreview } from '@millrace/contract';
import { currentClient } from '../../client/current-client.ts';
import { fromWire, projectOf, type ErrorRule, type OfProject } from './rule.ts';

/** The patterns of a rule; at least one is required. Each at most 512 characters. Null matches anything. */
export interface RulePatterns {
  /** Pattern for the task's id. */
  task?: string | null;
  /** Pattern for the error's type, as shown in lists. */
  type?: string | null;
  /** Pattern for the message, as thrown or as shown in lists. */
  message?: string | null;
}

/** A rule to add. */
export interface NewErrorRule extends RulePatterns, OfProject {
  /** The group of all matching errors, 1 to 200 characters; equivalent to `fingerprint` on an error. */
  groupKey: string;
  /** Position in the order of evaluation, starting at 1. Default: last. */
  position?: number;
}

/** The changes to a rule. Omitted fields stay unchanged. */
export interface ErrorRuleChange extends RulePatterns, OfProject {
  groupKey?: string;
  position?: number;
}

/**
 * The rules of a project, in the order in which they are evaluated.
 *
 * @example
 * for (const { position, message, groupKey } of await errors.rules.list()) console.log(position, message, groupKey);
 */
export async function list(options: OfProject = {}): Promise<ErrorRule[]> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, options) };
  return (await client.call('listErrorRules', { params })).data.map(fromWire);
}

/**
 * Adds a rule for future errors and returns it. It takes effect within two seconds. Throws a BadRequestError whose `details` name an invalid
 * field, and an UnprocessableEntityError beyond 100 rules.
 *
 * @example
 * await errors.rules.create({ message: 'connect ETIMEDOUT*', groupKey: 'network' });
 */
export async function create({ projectRef, ...rule }: NewErrorRule): Promise<ErrorRule> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, { projectRef }) };
  return fromWire(await client.call('createErrorRule', { params, body: rule }));
}

/**
 * Changes a rule and returns it. Throws a NotFoundError for an unknown rule.
 *
 * @example
 * await errors.rules.update('rule_…', { position: 1 });
 */
export async function update(ruleId: string, { projectRef, ...rule }: ErrorRuleChange): Promise<ErrorRule> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, { projectRef }), ruleId };
  return fromWire(await client.call('updateErrorRule', { params, body: rule }));
}

/**
 * Deletes a rule. Errors that it has grouped remain in their groups. Throws a NotFoundError for an unknown rule.
 *
 * @example
 * await errors.rules.del('rule_…');
 */
export async function del(ruleId: string, options: OfProject = {}): Promise<void> {
  const client = currentClient();
  await client.call('deleteErrorRule', { params: { projectRef: await projectOf(client, options), ruleId } });
}

/** A rule to preview. */
export interface PreviewedRule extends RulePatterns, OfProject {
  groupKey: string;
  /** Number of recent failed runs to check in each environment: 1 to 5,000. Default 1,000. */
  limit?: number;
  /** Only runs within this period up to now, such as `24h`. */
  period?: string;
}

/**
 * Shows how a rule would have grouped recent failures: those of the key's environment, or of all environments that the user can see. Nothing is
 * changed.
 *
 * @example
 * const { looked, matched, from } = await errors.rules.preview({ type: 'Timeout*', groupKey: 'slow' });
 */
export async function preview({
  projectRef,
  limit = 1_000,
  ...rule
}: PreviewedRule): Promise<ErrorRulePreview> {
  const client = currentClient();
  const params = { projectRef: await projectOf(client, { projectRef }) };
  return client.call('previewErrorRule', { params, body: { ...rule, limit } });
}
