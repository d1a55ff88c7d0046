import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/millrace/src/postgres/index.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { insertRuns } from '../packages/server/src/runs/create/insert.ts';
import { newRun } from './src/new-run.ts';
const folder = await mkdtemp(join(tmpdir(), 'prof-'));
const pg = await startPostgres({ dataDir: folder });
const sql = connect(pg.connection, { name: 'b', max: 1 });
await migrate(sql);
const old = execFileSync('git', ['show', 'ff5a72c9:packages/server/sql/functions/runs/dispatch/claim_runs.sql'], { encoding: 'utf8' });
await sql.unsafe(old.replace('function claim_runs(', 'function claim_runs_old('));
await sql`insert into organizations (id, name) values ('o', 'o')`;
await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
await sql`insert into versions (env, version, sequence, content_hash) values (1, '20261121.1', 1, 'h')`;
await sql`insert into current_versions values (1, 1)`;
await sql`insert into tasks values (1, 't', '{}')`;
await sql`insert into runners (id, env, host, pid, connection, connected_at, expires_at) values ('r', 1, 'h', 1, 'c', now(), now() + interval '1 day')`;
await sql`insert into queues (env, name) values (1, 'q')`;
const pid = (await sql`select pg_backend_pid() as pid`)[0]!.pid;
const spent = async () => Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1000;
for (const [keys, want] of [[1, 100], [1, 1], [1, 10], [100000, 100]] as const) {
  const ratios: number[] = []; const a: number[] = []; const b: number[] = [];
  for (let block = 0; block < 12; block++) {
    const per = want === 100 ? 3000 : 500 * want;
    for (let at = 0; at < per * 2; at += 500) await insertRuns({ sql, clock: Date } as never, Array.from({ length: 500 }, (_, n) => newRun({ task: 't', queueId: 1, concurrencyKey: `key ${(block * 10000 + at + n) % keys}`, pinnedVersion: 0, payload: JSON.stringify({ pad: 'x'.repeat(160) }), now: Date.now() })));
    const cost = { claim_runs: 0, claim_runs_old: 0 };
    for (let i = 0; i < per / want; i++) for (const f of (i % 2 ? ['claim_runs', 'claim_runs_old'] : ['claim_runs_old', 'claim_runs']) as (keyof typeof cost)[]) {
      const before = await spent();
      const rows = f === 'claim_runs' ? await sql`select * from claim_runs(1, 'r', '{0,1}', 1, ${want}, -1, now())` : await sql`select * from claim_runs_old(1, 'r', '{0,1}', 1, ${want}, -1, now())`;
      cost[f] += (await spent()) - before;
      if (rows.length !== want) throw new Error(`${rows.length}`);
    }
    await sql`delete from leases`; await sql`delete from runs`;
    if (block > 1) { ratios.push(cost.claim_runs / cost.claim_runs_old); a.push(cost.claim_runs / per); b.push(cost.claim_runs_old / per); }
  }
  const med = (v: number[]) => v.sort((x, y) => x - y)[v.length >> 1]!;
  console.log(keys, 'keys, want', want, 'new', med(a).toFixed(2), 'old', med(b).toFixed(2), 'ratio', med(ratios).toFixed(3));
}
await sql.end(); await pg.stop(); await rm(folder, { recursive: true, force: true });
