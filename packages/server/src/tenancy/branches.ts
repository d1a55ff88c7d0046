/** Branches of preview and dev: child environments that use the keys of their parent. */
import type { Branch } from '@millrace/contract';
import { branchName } from '../auth/branch.ts';
import type { Principal } from '../auth/principal.ts';
import { environmentOf, seenBy } from '../auth/target.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { jsonOfField } from '../json/levels.ts';
import { badRequest, notFound } from '../problem.ts';
import { archiveEnvironments } from './environments.ts';

type Kind = 'preview' | 'dev';

export const maxBranches = 500;
const maxGitBytes = 16_384;

/** A user sees their own dev branches; a key sees only branches of preview, which have no owner. */
const userIn = (principal: Principal): string =>
  principal.kind === 'personalAccessToken' ? principal.userId : '';

export async function listBranches(
  sql: Sql,
  ref: string,
  kinds: readonly Kind[],
  { principal }: Pick<Actor, 'principal'>,
): Promise<Branch[]> {
  const rows = await sql<
    {
      id: string;
      name: string;
      env: Kind;
      created_at: Date;
      updated_at: Date;
      git: Record<string, unknown> | null;
      paused: boolean;
    }[]
  >`
    select e.public_id as id, e.branch as name, e.kind as env, e.created_at, e.updated_at, e.git, e.paused
      from environments e join projects p on p.id = e.project_id join environments parent on parent.id = e.parent_id
     where p.ref = ${ref} and e.archived_at is null and e.kind = any(${kinds}::text[]) and ${seenBy(sql, userIn(principal))}
     order by e.id`;
  return rows.map(({ id, name, env, created_at, updated_at, git, paused }) => ({
    id,
    name,
    env,
    createdAt: created_at.toISOString(),
    updatedAt: updated_at.toISOString(),
    git: git ?? undefined,
    isPaused: paused,
  }));
}

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/[\s~^:?*[\\\u0000-\u001f\u007f]/, 'a space, a control character or one of ~ ^ : ? * [ \\'],
  [/\.\./, '..'],
  [/\/\//, '//'],
  [/@\{/, '@{'],
];

/** Validates the name of a new branch: git's rules, and only characters that are allowed in a header. */
export function newBranchName(text: string, kind: Kind): string {
  const name = branchName(text);
  if (name === undefined)
    throw badRequest(`branch: "${text}" names no branch; send a name such as feat/login`);
  const found = forbidden.find(([pattern]) => pattern.test(name));
  if (found) throw badRequest(`branch: a name must not hold ${found[1]}`);
  if (/^\/|\/$|\.lock$/.test(name))
    throw badRequest('branch: a name must not begin or end with / or end in .lock');
  if (!/^[\u0021-\u007e]+$/.test(name))
    throw badRequest('branch: a name is plain ASCII, so that a header can carry it');
  if (kind === 'dev' && name === 'default')
    throw badRequest('branch: default means no branch in dev; choose another name');
  return name;
}

export interface ChangedBranch {
  readonly id: string;
  /** The environment that it is a branch of. */
  readonly parent: number;
}

/** Creates the branch unless it exists. The commit facts in `git` are updated either way. */
export async function createBranch(
  sql: Sql,
  ref: string,
  asked: { readonly branch: string; readonly env: Kind; readonly git?: Record<string, unknown> | undefined },
  by: Actor,
): Promise<ChangedBranch> {
  const name = newBranchName(asked.branch, asked.env);
  const git = asked.git === undefined ? null : jsonOfField(asked.git, 'git');
  if (git !== null && Buffer.byteLength(git) > maxGitBytes) throw badRequest('git: at most 16 KiB of JSON');
  return sql.begin(async (tx) => {
    const parent = await environmentOf(tx, userIn(by.principal), ref, asked.env);
    if (!parent) throw notFound('Environment not found');
    // Locked against archiving and against other new branches.
    const [isLive] = await tx`
      select from environments where id = ${parent.id} and archived_at is null for no key update`;
    if (!isLive) throw notFound('Environment not found');
    const [{ live } = { live: 0 }] = await tx<{ live: number }[]>`
      select count(*)::int as live from environments
       where parent_id = ${parent.id} and archived_at is null and branch <> ${name}`;
    if (live >= maxBranches)
      throw badRequest(`${asked.env} has ${live} branches, the most there can be: archive some`);
    const [row] = await tx<{ id: string; made: boolean }[]>`
      insert into environments (public_id, project_id, kind, branch, parent_id, git)
      values (${newId('env')}, ${parent.projectId}, ${asked.env}, ${name}, ${parent.id}, ${git}::jsonb)
      on conflict (parent_id, branch) where parent_id is not null and archived_at is null
        do update set git = coalesce(excluded.git, environments.git), updated_at = now()
      returning public_id as id, (xmax = 0) as made`;
    if (!row) throw new TypeError('insert returned nothing');
    if (row.made) {
      await recordAct(tx, by, {
        act: 'branch.created',
        target: row.id,
        in: { projectRef: ref, environment: asked.env },
        new: { branch: name },
      });
    }
    return { id: row.id, parent: parent.id };
  });
}

/** Archives a branch: no key or token can access it any more. Its data stays until it is pruned. */
export async function archiveBranch(
  sql: Sql,
  ref: string,
  asked: { readonly branch: string; readonly env: Kind },
  by: Actor,
): Promise<ChangedBranch> {
  return sql.begin(async (tx) => {
    const branch = branchName(asked.branch);
    const found =
      branch === undefined
        ? undefined
        : await environmentOf(tx, userIn(by.principal), ref, asked.env, branch);
    if (!found) throw notFound('Branch not found');
    // Locked, so that only one of two concurrent requests archives it.
    const [live] = await tx<{ parent: number }[]>`
      select parent_id as parent from environments where id = ${found.id} and archived_at is null for update`;
    if (!live) throw notFound('Branch not found');
    await archiveEnvironments(tx, tx`e.id = ${found.id} and e.archived_at is null`, { deleted: false });
    await recordAct(tx, by, {
      act: 'branch.archived',
      target: found.publicId,
      in: { projectRef: ref, environment: asked.env },
      old: { branch },
    });
    return { id: found.publicId, parent: live.parent };
  });
}
