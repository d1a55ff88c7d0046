/**
 * How fast ended runs are archived, erased and deleted: `node bench/erase.ts [runs]`. Each run has a payload and an output of 1 KB, a tag of its
 * own and one that all have, five log lines and a step. The archive is written by the built command, whose memory is sampled.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../packages/server/src/db/connect.ts';
import { newTimedId } from '../packages/server/src/db/ids.ts';
import { startLocalServer } from './src/local-server.ts';

const runs = Number(process.argv[2] ?? 100_000);
const { server, key, connection, folder, stop } = await startLocalServer();
const sql = connect(connection, { name: 'bench', max: 2 });

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json() as Promise<T>;
}

/** Adds ended runs of two hours ago, as many in each second as a busy environment has. */
async function fill(tag: string): Promise<void> {
  const { id: first } = await ask<{ id: string }>('POST', '/api/v1/tasks/bench/trigger', { payload: 1 });
  const start = Date.now() - 7_200_000;
  for (let from = 0; from < runs; from += 10_000) {
    const ids = Array.from({ length: Math.min(10_000, runs - from) }, (_, n) =>
      newTimedId('run', start + Math.floor((from + n) / 2)),
    );
    await sql`
      insert into runs (env, id, task, status, queue_id, sort_key, created_at, finished_at, tags, payload, output)
      select r.env, i.id, r.task, 'COMPLETED', r.queue_id, 0, ${new Date(start)}, ${new Date(start + 600_000)}, array[${tag}::text, i.id],
             ${JSON.stringify('x'.repeat(1_000))}, ${JSON.stringify('y'.repeat(1_000))}
        from runs r, unnest(${ids}::text[]) as i (id) where r.id = ${first}`;
    await sql`
      insert into run_facets select distinct r.env, f.facet, left(r.id, 10) from runs r
        cross join lateral (values ('tag:' || ${tag}::text), ('tag:' || r.id), ('own_queue_task:' || r.task), ('status:COMPLETED')) as f (facet)
       where r.id = any(${ids}::text[]) on conflict do nothing`;
    await sql`
      insert into run_logs (env, run_id, attempt, at, level, message)
      select r.env, r.id, 1, r.created_at, 'info', repeat('z', 100) from runs r, generate_series(1, 5) where r.id = any(${ids}::text[])`;
    await sql`
      insert into run_steps (env, run_id, name, kind, status, seq, attempt, tries, started_at, ended_at, output)
      select r.env, r.id, 'a', 'RUN', 'COMPLETED', 1, 1, 1, r.created_at, r.created_at, '1' from runs r where r.id = any(${ids}::text[])`;
  }
  await sql`analyze`;
}

async function erase(tag: string, mode: string): Promise<number> {
  const from = performance.now();
  const { id } = await ask<{ id: string }>('POST', '/api/v1/erasures', { filter: { tag }, mode });
  for (;;) {
    const { status, counts } = await ask<{ status: string; counts: { erased: number } }>(
      'GET',
      `/api/v1/erasures/${id}`,
    );
    if (status !== 'PENDING') {
      if (counts.erased !== runs) throw new Error(`${counts.erased} runs were erased`);
      return performance.now() - from;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function archive(tag: string): Promise<{ ms: number; peakMib: number }> {
  const bin = fileURLToPath(new URL('../packages/millrace/bin/millrace.js', import.meta.url));
  const args = [bin, 'runs', 'archive', '--into', join(folder, 'archive'), '--tag', tag, '--json'];
  const from = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: key },
  });
  let peakMib = 0;
  const sampler = setInterval(() => {
    void readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (text) => (peakMib = Math.max(peakMib, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1_024)),
      () => {},
    );
  }, 100);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(sampler);
  if (code !== 0) throw new Error(`the archive ended with ${code}`);
  return { ms: performance.now() - from, peakMib };
}

const rate = (ms: number): string => `${Math.round(runs / (ms / 1_000)).toLocaleString('en')} runs/s`;

try {
  await fill('one');
  await fill('two');
  const archived = await archive('one');
  console.log(`archive  ${rate(archived.ms)}, peak ${Math.round(archived.peakMib)} MiB`);
  console.log(`erase    ${rate(await erase('one', 'erase'))}`);
  console.log(`delete   ${rate(await erase('two', 'delete'))}`);
} finally {
  await sql.end();
  await stop();
}
