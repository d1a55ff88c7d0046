import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, period } from './shapes.ts';

/** Maximum length of a rule's pattern, in characters. */
export const maxPatternCharacters = 512;
/** Maximum number of rules in a project. */
export const maxErrorRules = 100;

const words = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(
      (value) => !value.includes('\u0000') && value.isWellFormed(),
      'must not contain NUL or an unpaired surrogate',
    );

/**
 * A pattern for the whole text, in which `*` matches anything, including nothing; `\\*` and `\\\\` match the characters themselves.
 * Case-sensitive.
 */
const pattern = words(maxPatternCharacters).nullable();

const patterns = {
  /** Pattern for the task's id. Null or omitted matches any. */
  task: pattern,
  /** Pattern for the type as shown in lists. */
  type: pattern,
  /** Pattern for the message as thrown (its first 2,048 characters), or as shown in lists. */
  message: pattern,
};
const groupKey = words(200).refine((value) => value.trim() === value, 'must not begin or end with a space');

/** Errors that match all its patterns are grouped per task under its key. The first matching rule applies. */
export const errorRule = z.object({
  id: z.string(),
  /** Starts at 1. */
  position: z.number().int(),
  ...patterns,
  /** Replaces the fingerprint: errors whose code sets the same `fingerprint` are in the same group. */
  groupKey: z.string(),
  createdAt: date,
  updatedAt: date,
});
export type ErrorRule = z.infer<typeof errorRule>;

const position = z.number().int().min(1).max(maxErrorRules);
const fields = z.object({
  task: pattern.optional(),
  type: pattern.optional(),
  message: pattern.optional(),
  groupKey,
});
const names = (rule: { task?: unknown; type?: unknown; message?: unknown }): boolean =>
  typeof rule.task === 'string' || typeof rule.type === 'string' || typeof rule.message === 'string';
const namesNothing = 'a rule needs a pattern: send task, type or message';

const inProject = z.object({ projectRef: z.string().min(1).max(128) });
const oneRule = inProject.extend({ ruleId: z.string().min(1).max(128) });

const read = {
  secretKey: true,
  personalAccessToken: true,
  role: 'viewer',
  action: 'read',
  on: 'errors',
} as const;
// Rules belong to the project, so a test key must not be able to regroup production errors. A dev key belongs to a member, who has
// permission.
const write = {
  secretKey: true,
  keysOf: ['dev', 'prod'],
  personalAccessToken: true,
  role: 'member',
  action: 'write',
  on: 'errors',
} as const;

export const listErrorRules = operation({
  id: 'listErrorRules',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/error-rules',
  tag: 'errors',
  summary: "List a project's error grouping rules, in evaluation order",
  access: read,
  params: inProject,
  reply: z.object({ data: z.array(errorRule) }),
  errors: [404],
});

export const createErrorRule = operation({
  id: 'createErrorRule',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/error-rules',
  tag: 'errors',
  summary: 'Add a rule: new errors that match it go to the group with its key',
  access: write,
  params: inProject,
  /** Without a position, the rule is added last. */
  body: fields
    .extend({ position: position.optional() })
    .refine(names, { error: namesNothing, path: ['message'] }),
  reply: errorRule,
  errors: [404, 422],
});

export const updateErrorRule = operation({
  id: 'updateErrorRule',
  method: 'PATCH',
  path: '/api/v1/projects/:projectRef/error-rules/:ruleId',
  tag: 'errors',
  summary: "Update a rule's patterns, group key or position; omitted fields remain unchanged",
  access: write,
  params: oneRule,
  body: fields.partial().extend({ position: position.optional() }),
  reply: errorRule,
  errors: [404, 422],
});

export const deleteErrorRule = operation({
  id: 'deleteErrorRule',
  method: 'DELETE',
  path: '/api/v1/projects/:projectRef/error-rules/:ruleId',
  tag: 'errors',
  summary: 'Delete a rule: later errors are grouped without it; existing groups remain unchanged',
  access: write,
  params: oneRule,
  reply: z.object({ success: z.boolean() }),
  errors: [404],
});

/** The effect that a rule would have. */
export const errorRulePreview = z.object({
  /** Number of inspected failed runs: the latest, at most `limit` in each environment. */
  looked: z.number().int(),
  matched: z.number().int(),
  /** Their current groups. */
  from: z.array(
    z.object({
      id: z.string(),
      taskIdentifier: z.string(),
      errorType: z.string(),
      errorMessage: z.string(),
      /** Number of inspected runs that match. */
      matched: z.number().int(),
      looked: z.number().int(),
    }),
  ),
  /** The groups that these errors would be in, one for each task and environment. */
  into: z.array(z.object({ id: z.string(), taskIdentifier: z.string(), matched: z.number().int() })),
});
export type ErrorRulePreview = z.infer<typeof errorRulePreview>;

export const previewErrorRule = operation({
  id: 'previewErrorRule',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/error-rules/preview',
  tag: 'errors',
  summary:
    "Preview which recent failures a rule would regroup, in the key's environment or all environments visible to the user; nothing is changed",
  access: read,
  params: inProject,
  body: fields
    .extend({
      /** Number of failed runs to inspect in each environment. */
      limit: z.number().int().min(1).max(5_000).default(1_000),
      /** Only runs within this period up to now, such as `24h`. */
      period: period.optional(),
    })
    .refine(names, { error: namesNothing, path: ['message'] }),
  reply: errorRulePreview,
  errors: [404],
});
