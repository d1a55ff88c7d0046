import { describe, expect, test } from 'vitest';
import { pruneRows } from '../../../packages/server/src/app/testing/prune-rows.ts';
import { installation, sharedInstallation, type SharedInstallation } from '../installation.ts';
import { environmentHeaders, fromPage, logIn, type Tab } from './tab.ts';

/** The promise for every credential is one second. The extra half second is for the machine of the test. */
const within = { timeout: 1_500, interval: 25 };

const readsOf = (tab: Tab, server?: SharedInstallation['server']) => async () =>
  (await tab.ask('GET /api/v1/queues', { env: 'prod', ...(server && { server }) })).status;
const writesOf = (tab: Tab, server?: SharedInstallation['server']) => async () =>
  (await tab.ask('POST /api/v1/waitpoints/tokens', { env: 'prod', body: {}, ...(server && { server }) }))
    .status;

describe('while a session lives', () => {
  test('a lowered role applies immediately on its server, and within a second on all others', async () => {
    const here = await installation();
    const { ask, organization, another, userWith } = here;
    const { id, token } = await userWith('member');
    const tab = await logIn(here, { accessToken: token });
    const elsewhere = await another();
    const [writes, writesElsewhere] = [writesOf(tab), writesOf(tab, elsewhere)];
    expect([await writes(), await writesElsewhere()]).toEqual([200, 200]);
    const member = `/api/v1/orgs/${organization}/members/${id}`;
    expect((await ask(`PATCH ${member}`, { body: { role: 'viewer' } })).status).toBe(200);
    expect(await writes()).toBe(403);
    await expect.poll(writesElsewhere, within).toBe(403);
    expect(await readsOf(tab)()).toBe(200);
    expect(await readsOf(tab, elsewhere)()).toBe(200);
    // And back.
    await ask(`PATCH ${member}`, { body: { role: 'admin' } });
    expect(await writes()).toBe(200);
  });

  test('a removed member no longer sees anything of the organization', async () => {
    const here = await installation();
    const { ask, organization, another, userWith, projectRef } = here;
    const { id, token } = await userWith('admin');
    const tab = await logIn(here, { accessToken: token });
    const elsewhere = await another();
    const [reads, readsElsewhere] = [readsOf(tab), readsOf(tab, elsewhere)];
    expect([await reads(), await readsElsewhere()]).toEqual([200, 200]);
    await ask(`DELETE /api/v1/orgs/${organization}/members/${id}`);
    expect(await reads()).toBe(404);
    await expect.poll(readsElsewhere, within).toBe(404);
    expect((await tab.ask(`GET /api/v1/projects/${projectRef}`)).status).toBe(404);
    // The user still exists, but belongs to no organization.
    const { status, body } = await tab.ask('GET /api/v1/browser-sessions/current');
    expect([status, body.organizations, body.projects]).toEqual([200, [], []]);
  });

  test('it ends when the token that opened it is revoked, and no later than the expiry date of that token', async () => {
    const here = await sharedInstallation();
    const { ask, token } = here;
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const created = (await ask('POST /api/v1/tokens', { body: { name: 'short', expiresAt: inAnHour } })).body;
    const byToken = await logIn(here, { accessToken: created.token });
    const link = (await ask('POST /api/v1/browser-links', { key: created.token })).body.token as string;
    const byLink = await logIn(here, { token: link });
    const unused = (await ask('POST /api/v1/browser-links', { key: created.token })).body.token as string;
    const other = await logIn(here, { accessToken: token });
    for (const tab of [byToken, byLink]) {
      const { session } = (await tab.ask('GET /api/v1/browser-sessions/current')).body;
      expect(session.expiresAt).toBe(inAnHour);
    }
    await ask(`POST /api/v1/tokens/${created.id}/revoke`);
    for (const tab of [byToken, byLink]) expect(await readsOf(tab)()).toBe(401);
    await expect(logIn(here, { token: unused })).rejects.toThrow('401');
    expect(await readsOf(other)()).toBe(200);
  });

  test('it ends after twelve hours without use, and after thirty days at the latest', async () => {
    const here = await installation();
    const { sql, server } = here;
    const [idle, old] = [await logIn(here), await logIn(here)];
    await sql`update browser_sessions set last_used_at = now() - interval '11 hours 50 minutes' where id = ${idle.id}`;
    const elsewhere = await here.another();
    // Each use is recorded, so the session continues.
    expect(await readsOf(idle, elsewhere)()).toBe(200);
    await expect
      .poll(
        async () =>
          (
            await sql`select from browser_sessions where id = ${idle.id} and last_used_at > now() - interval '1 minute'`
          ).length,
      )
      .toBe(1);
    await sql`update browser_sessions set last_used_at = now() - interval '12 hours' where id = ${idle.id}`;
    await sql`update browser_sessions set expires_at = now() where id = ${old.id}`;
    for (const tab of [idle, old]) {
      await expect.poll(readsOf(tab), within).toBe(401);
      await expect.poll(readsOf(tab, elsewhere), within).toBe(401);
    }
    expect(server.url).not.toBe(elsewhere.url);
  });

  test('its rows are deleted a month after its end', async () => {
    const here = await installation();
    const { sql, ask } = here;
    const [old, ended, live] = [await logIn(here), await logIn(here), await logIn(here)];
    await ask('POST /api/v1/browser-links');
    await sql`update browser_links set expires_at = now() - interval '1 second'`;
    await sql`update browser_sessions set expires_at = now() - interval '31 days' where id = ${old.id}`;
    await sql`update browser_sessions set expires_at = now() - interval '29 days' where id = ${ended.id}`;
    await pruneRows({ sql, clock: { now: Date.now } });
    const left = await sql<{ id: string }[]>`select id from browser_sessions`;
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([ended.id, live.id]));
    expect(await sql`select from browser_links`).toHaveLength(0);
  });

  test('a stream that it reads ends with it, and when the role changes', async () => {
    const here = await sharedInstallation();
    const { ask, organization, userWith, projectRef, server } = here;
    const { id, token } = await userWith('member');
    const tab = await logIn(here, { accessToken: token });
    const follow = async () => {
      const response = await fetch(`${server.url}/realtime/v1/logs/events`, {
        headers: { ...fromPage, ...environmentHeaders(projectRef, 'prod'), cookie: tab.cookie },
      });
      expect(response.status).toBe(200);
      let over = false;
      void response.text().then(
        () => (over = true),
        () => (over = true),
      );
      return () => over;
    };
    const first = await follow();
    await ask(`PATCH /api/v1/orgs/${organization}/members/${id}`, { body: { role: 'viewer' } });
    await expect.poll(first, within).toBe(true);
    const second = await follow();
    await tab.ask('DELETE /api/v1/browser-sessions/current');
    await expect.poll(second, within).toBe(true);
  });

  test('a deleted environment no longer exists for it', async () => {
    const here = await sharedInstallation();
    const { ask, projectRef } = here;
    const tab = await logIn(here);
    const [before] = (await tab.ask('GET /api/v1/browser-sessions/current')).body.projects[0].environments;
    const project = `/api/v1/projects/${projectRef}`;
    await ask(`POST ${project}/branches`, { body: { branch: 'feat', env: 'preview' } });
    const headers = { 'x-trigger-branch': 'feat' };
    const reads = async () => (await tab.ask('GET /api/v1/queues', { env: 'preview', headers })).status;
    expect(await reads()).toBe(200);
    await ask(`POST ${project}/branches/archive`, { body: { branch: 'feat', env: 'preview' } });
    expect(await reads()).toBe(404);
    expect((await tab.ask(`DELETE ${project}/dev?confirm=dev`)).status).toBe(200);
    const [after] = (await tab.ask('GET /api/v1/browser-sessions/current')).body.projects[0].environments;
    expect([before.name, after.name, after.id === before.id]).toEqual(['dev', 'dev', false]);
  });
});
