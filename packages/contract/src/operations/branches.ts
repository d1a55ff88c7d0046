import { z } from 'zod';
import { environmentKind } from '../environment.ts';
import { operation } from '../operation.ts';
import { date } from './shapes.ts';

const inProject = z.object({ projectRef: z.string().min(1).max(128) });
const branchName = z.string().min(1).max(255);

/** `preview` (default) or `dev`, in any spelling. */
const branchable = z
  .string()
  .default('preview')
  .transform((text, context) => {
    const kind = environmentKind(text);
    if (kind === 'preview' || kind === 'dev') return kind;
    context.addIssue({ code: 'custom', message: `"${text}" has no branches; use preview or dev` });
    return z.NEVER;
  });

const access = {
  secretKey: true,
  keysOf: ['preview'],
  personalAccessToken: true,
  on: 'branches',
  wholeEnvironment: true,
} as const;

export const branch = z.object({
  id: z.string(),
  name: z.string(),
  env: z.enum(['preview', 'dev']),
  createdAt: date,
  updatedAt: date,
  git: z.record(z.string(), z.unknown()).optional(),
  isPaused: z.boolean(),
  /** Whether declared schedules fire in it. In preview branches only if requested. */
  schedules: z.boolean(),
});
export type Branch = z.infer<typeof branch>;

export const listBranches = operation({
  id: 'listBranches',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/branches',
  tag: 'branches',
  summary: "List a project's live branches",
  access: { ...access, action: 'read', role: 'viewer' },
  params: inProject,
  reply: z.object({ branches: z.array(branch) }),
  errors: [404],
});

export const createBranch = operation({
  id: 'createBranch',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/branches',
  tag: 'branches',
  summary: 'Create a branch of preview or dev unless it exists; keys create preview branches only',
  access: { ...access, action: 'deploy', role: 'member', forbidsRuns: true },
  params: inProject,
  body: z.object({
    /** A git reference is shortened to its name: `refs/heads/feat/x` is `feat/x`. */
    branch: branchName,
    env: branchable,
    /** Git metadata of the commit, at most 16 KiB of JSON. */
    git: z.record(z.string(), z.unknown()).optional(),
    /**
     * Whether declared schedules fire in this preview branch. Default: unchanged, or false for a new branch. Schedules that name PREVIEW among
     * their environments always fire.
     */
    schedules: z.boolean().optional(),
  }),
  reply: z.object({ id: z.string(), schedules: z.boolean() }),
  errors: [404],
});

export const archiveBranch = operation({
  id: 'archiveBranch',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/branches/archive',
  tag: 'branches',
  summary:
    'Archive a branch, and cancel its runs if requested: its keys and tokens end immediately, and its name can be reused',
  // Permission to deploy a branch includes archiving it, which CI does when the branch is merged.
  access: { ...access, action: 'deploy', role: 'member', forbidsRuns: true },
  params: inProject,
  body: z.object({
    branch: branchName,
    env: branchable,
    /**
     * true: cancels the unfinished runs, and archives the branch once they have ended. false: a branch with unfinished runs is not archived
     * (409, `branch_has_runs`). Omitted, as by published clients: cancels them, and archives without waiting for live attempts.
     */
    cancelRuns: z.boolean().optional(),
  }),
  reply: z.object({
    id: z.string(),
    /** False while live attempts are stopping, or if there were more runs than one call cancels: call again. */
    isArchived: z.boolean(),
    /** Number of runs that this call canceled. */
    canceled: z.number().int(),
    /** Number of runs that have not ended yet. */
    liveRuns: z.number().int(),
  }),
  errors: [404, 409],
});
