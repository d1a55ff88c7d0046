/** Branches of preview and dev: child environments that use the keys of their parent. */
import type { Branch } from '@millrace/contract';
import { branchName } from '../auth/branch.ts';
import { isUser, type Principal } from '../auth/principal.ts';
import { environmentOf, seenBy } from '../auth/target.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { jsonOfField } from '../json/levels.ts';
import { badRequest, notFound } from '../problem.ts';

export type BranchKind = 'preview' | 'dev';

export const maxBranches = 500;
const maxGitBytes = 16_384;

/** A user sees their own dev branches; a key sees only branches of preview, which have no owner. */
export const userIn = (principal: Principal): string => (isUser(principal) ? principal.userId : '');

export async function listBranches(
  sql: Sql,
  ref: string,
  kinds: readonly BranchKind[],
  { principal }: Pick<Actor, 'principal'>,
): Promise<Branch[]> {
  const rows = await sql<
    {
      id: string;
      name: string;
      env: BranchKind;
      created_at: Date;
      updated_at: Date;
      git: Record<string, unknown> | null;
      paused: boolean;
      schedules: boolean;
    }[]
  >`
    select e.public_id as id, e.branch as name, e.kind as env, e.created_at, e.updated_at, e.git, e.paused,
           e.kind = 'dev' or e.declared_schedules as schedules
      from environments e join projects p on p.id = e.project_id join environments parent on parent.id = e.parent_id
     where p.ref = ${ref} and e.archived_at is null and e.kind = any(${kinds}::text[]) and ${seenBy(sql, userIn(principal))}
     order by e.id`;
  return rows.map(({ id, name, env, created_at, updated_at, git, paused, schedules }) => ({
    id,
    name,
    env,
    createdAt: created_at.toISOString(),
    updatedAt: updated_at.toISOString(),
    git: git ?? undefined,
    isPaused: paused,
    schedules,
  }));
}

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/[\s~^:?*[\\\u0000-\u001f\u007f]/, 'a space, a control character or one of ~ ^ : ? * [ \\'],
  [/\.\./, '..'],
  [/\/\//, '//'],
  [/@\{/, '@{'],
];

/** Validates the name of a new branch: it must follow git's rules and contain only characters that are allowed in a header. */
export function newBranchName(text: string, kind: BranchKind): string {
  const name = branchName(text);
  if (name === undefined)
    throw badRequest(`branch: "${text}" is not a valid branch name. Use a name such as feat/login.`);
  const found = forbidden.find(([pattern]) => pattern.test(name));
  if (found) throw badRequest(`branch: a name must not contain ${found[1]}`);
  if (/^\/|\/$|\.lock$/.test(name))
    throw badRequest('branch: a name must not begin or end with / or end in .lock');
  if (!/^[\u0021-\u007e]+$/.test(name))
    throw badRequest('branch: a name must be plain ASCII, because it is sent in a header');
  if (kind === 'dev' && name === 'default')
    throw badRequest('branch: default means no branch in dev; choose another name');
  return name;
}

export interface ChangedBranch {
  readonly id: string;
  /** The environment that the branch belongs to. */
  readonly parent: number;
}

export interface CreateBranchDependencies {
  readonly sql: Sql;
  /** Applies the declared schedules that should fire in an environment. */
  readonly declareSchedules: (tx: Transaction, env: number) => Promise<void>;
}

interface NewBranch {
  readonly branch: string;
  readonly env: BranchKind;
  readonly git?: Record<string, unknown> | undefined;
  readonly schedules?: boolean | undefined;
}

/** Creates the branch unless it exists. The commit information in `git` and the schedule setting are updated either way. */
export async function createBranch(
  { sql, declareSchedules }: CreateBranchDependencies,
  ref: string,
  request: NewBranch,
  by: Actor,
): Promise<ChangedBranch & { readonly schedules: boolean }> {
  const { schedules = null } = request;
  if (schedules !== null && request.env === 'dev')
    throw badRequest(
      'schedules: declared schedules always fire in branches of dev; send it for preview only',
    );
  const name = newBranchName(request.branch, request.env);
  const git = request.git === undefined ? null : jsonOfField(request.git, 'git');
  if (git !== null && Buffer.byteLength(git) > maxGitBytes)
    throw badRequest('git: must have at most 16 KiB as JSON');
  return sql.begin(async (tx) => {
    const parent = await environmentOf(tx, userIn(by.principal), ref, request.env);
    if (!parent) throw notFound('Environment not found', false, 'environment_not_found');
    // Locked against archiving and against other new branches.
    const [isLive] = await tx`
      select from environments where id = ${parent.id} and archived_at is null for no key update`;
    if (!isLive) throw notFound('Environment not found', false, 'environment_not_found');
    const [{ live } = { live: 0 }] = await tx<{ live: number }[]>`
      select count(*)::int as live from environments
       where parent_id = ${parent.id} and archived_at is null and branch <> ${name}`;
    if (live >= maxBranches)
      throw badRequest(`${request.env} has ${live} branches, which is the maximum. Archive some of them.`);
    // The parent is locked, so that it cannot change in between.
    const [before] = await tx<{ schedules: boolean }[]>`
      select declared_schedules as schedules from environments
       where parent_id = ${parent.id} and branch = ${name} and archived_at is null`;
    const [row] = await tx<{ env: number; id: string; schedules: boolean }[]>`
      insert into environments (public_id, project_id, kind, branch, parent_id, git, declared_schedules)
      values (${newId('env')}, ${parent.projectId}, ${request.env}, ${name}, ${parent.id}, ${git}::jsonb, coalesce(${schedules}::boolean, false))
      on conflict (parent_id, branch) where parent_id is not null and archived_at is null
        do update set git = coalesce(excluded.git, environments.git), updated_at = now(),
                      declared_schedules = coalesce(${schedules}::boolean, environments.declared_schedules)
      returning id as env, public_id as id, kind = 'dev' or declared_schedules as schedules`;
    if (!row) throw new TypeError('insert returned nothing');
    const here = { target: row.id, in: { projectRef: ref, environment: request.env } };
    if (!before) {
      await recordAct(tx, by, {
        ...here,
        act: 'branch.created',
        new: { branch: name, ...(schedules !== null && { schedules }) },
      });
    } else if (schedules !== null && schedules !== before.schedules) {
      await declareSchedules(tx, row.env);
      await recordAct(tx, by, {
        ...here,
        act: 'branch.updated',
        old: before,
        new: { branch: name, schedules },
      });
    }
    return { id: row.id, parent: parent.id, schedules: row.schedules };
  });
}
