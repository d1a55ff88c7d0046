import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { installation } from '../../../../test/access/installation.ts';

test('a branch that a member creates while being removed is archived with its environment', async () => {
  const { ask, organization, projectRef, sql, userWith } = await installation();
  const ann = await userWith('member');
  const waiting = () => lockWaiters(sql);
  const { making, removing } = await sql.begin(async (tx) => {
    // A transaction that records an act blocks here after doing everything else.
    await tx`lock table audit_log in share mode`;
    const branch = ask(`POST /api/v1/projects/${projectRef}/branches`, {
      key: ann.token,
      body: { branch: 'wip', env: 'dev' },
    });
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    const removal = ask(`DELETE /api/v1/orgs/${organization}/members/${ann.id}`);
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(2);
    return { making: branch, removing: removal };
  });
  expect((await making).status).toBe(200);
  expect((await removing).status).toBe(200);
  const hers = await sql<{ branch: string | null; live: boolean; retained: boolean }[]>`
    select e.branch, e.archived_at is null as live, e.prune_at is null as retained
      from environments e left join environments p on p.id = e.parent_id
     where coalesce(p.member_id, e.member_id) = ${ann.id} order by e.id`;
  expect(hers).toEqual([
    { branch: null, live: false, retained: false },
    { branch: 'wip', live: false, retained: false },
  ]);
});

test('a user who joins while a project is deleted gets no environment in it', async () => {
  const { ask, organization, sql } = await installation();
  const at = `/api/v1/orgs/${organization}`;
  const { ref } = await ask(`POST ${at}/projects`, { body: { name: 'Second' } }).then(({ body }) => ({
    ref: body.externalRef as string,
  }));
  const invited = await ask(`POST ${at}/invites`, { body: { email: 'ann@example.com', role: 'member' } });
  const waiting = () => lockWaiters(sql);
  const { deleting, joining } = await sql.begin(async (tx) => {
    await tx`lock table audit_log in share mode`;
    const deletion = ask(`DELETE /api/v1/projects/${ref}?confirm=${ref}`);
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    const joined = ask('POST /api/v1/invites/join', {
      key: '',
      body: { token: invited.body.token, name: 'Ann' },
    });
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(2);
    return { deleting: deletion, joining: joined };
  });
  expect((await deleting).status).toBe(200);
  expect((await joining).status).toBe(200);
  const hers = await sql<{ ref: string }[]>`
    select p.ref from environments e join projects p on p.id = e.project_id join users u on u.id = e.member_id
     where u.name = 'Ann'`;
  expect(hers).toHaveLength(1);
  expect(hers[0]?.ref).not.toBe(ref);
});
