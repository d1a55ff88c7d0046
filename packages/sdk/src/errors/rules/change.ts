import type { ErrorRulePreview } from '@millrace/contract';
import { currentClient } from '../../client/current-client.ts';
import { fromWire, projectOf, type ErrorRule, type OfProject } from './rule.ts';

/** What a rule matches; at least one of them. Each at most 512 characters. Null is anything. */
export interface RulePatterns {
  /** Of the task's id. */
  task?: string | null;
  /** Of the error's type, as a list shows it. */
  type?: string | null;
  /** Of the message, as it was thrown or as a list shows it. */
  message?: string | null;
}

/** A rule to be added. */
export interface NewErrorRule extends RulePatterns, OfProject {
  /** The group of all that matches, 1 to 200 characters; the same as `fingerprint` on an error. */
  groupKey: string;
  /** When it is tried, from 1. Default: as the last. */
  position?: number;
}

/** What to change of a rule; what is left out stays. */
export interface ErrorRuleChange extends RulePatterns, OfProject {
  groupKey?: string;
  position?: number;
}

/**
 * The rules of a project, in the order in which they are tried.
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
 * Adds a rule, for errors to come, and returns it. It is in force within two seconds. Throws a BadRequestError whose `details` name
 * what cannot be, an UnprocessableEntityError past 100 rules.
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
 * Changes a rule and returns it. Throws a NotFoundError for an unknown one.
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
 * Deletes a rule. What it has grouped stays where it is. Throws a NotFoundError for an unknown one.
 *
 * @example
 * await errors.rules.del('rule_…');
 */
export async function del(ruleId: string, options: OfProject = {}): Promise<void> {
  const client = currentClient();
  await client.call('deleteErrorRule', { params: { projectRef: await projectOf(client, options), ruleId } });
}

/** A rule to be tried out. */
export interface PreviewedRule extends RulePatterns, OfProject {
  groupKey: string;
  /** Failed runs to look at, the latest, in each environment: 1 to 5,000. Default 1,000. */
  limit?: number;
  /** Only those of so long ago, such as `24h`. */
  period?: string;
}

/**
 * Shows which recent failures a rule would have put where: those of the key's environment, or of all that the user sees. Nothing is
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
