import { Peer } from '/work/main/packages/millrace/src/runner/testing/peer.ts';
import { testProject } from '/work/main/packages/millrace/src/runner/testing/project.ts';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
const p = await testProject({ 'tasks/a.ts': `import { task } from '@millrace/sdk';
export const noop = task({ id: 'noop', run: async () => {} });
export const at = task({ id: 'at', run: async () => performance.timeOrigin + performance.now() });` });
const peer = await new Peer().listen();
const child = fork('/tmp/rt/bench-runner.mjs', [peer.url, peer.secretKey, p.dir], { stdio: 'inherit', execPath: '/usr/bin/node' });
await new Promise(r => child.once('message', r));
const cpu = () => new Promise<any>(r => { child.once('message', r); child.send('cpu'); });
let capacity = 100;
const N = Number(process.argv[2] ?? 40000);
for (const round of [1, 2, 3]) {
  const before = peer.outcomes.size; let sent = 0, done = 0; const c0 = await cpu(); const t0 = performance.now();
  const batch = (n: number, task: string) => { const assignments: any[] = []; const s = peer.send; (peer as any).send = (m: any) => assignments.push(...m.assignments); for (let i = 0; i < n; i++) peer.assign(task); (peer as any).send = s; peer.send({ type: 'run', assignments }); sent += n; };
  let maxcap = 0;
  await new Promise<void>((resolve) => {
    const tick = () => { done = peer.outcomes.size - before; for (const m of peer.received.splice(0)) if (m.type === 'capacity') capacity = m.capacity; maxcap = Math.max(maxcap, capacity);
      const free = Math.min(capacity - (sent - done), N - sent); if (free > 0) batch(free, 'noop'); if (done >= N) resolve(); else peer.until(() => peer.outcomes.size - before > done).then(tick); };
    tick();
  });
  const ms = performance.now() - t0; const c1 = await cpu();
  console.log(`round ${round}: ${(N / ms * 1000).toFixed(0)} runs/s; runner CPU µs/run ${((c1.self - c0.self) / N).toFixed(1)}, executor ${((c1.exec - c0.exec) / N * 1e6).toFixed(1)}; capacity up to ${maxcap}; rss runner ${c1.rss} exec ${c1.execRss}`);
}
const lat: number[] = [];
for (let i = 0; i < 200; i++) { await new Promise(r => setTimeout(r, 20)); const t = performance.timeOrigin + performance.now(); const o: any = await peer.outcome(peer.assign('at')); lat.push(Number(o.output) - t); }
lat.sort((a, b) => a - b); console.log('idle send→task code ms p50', lat[100]!.toFixed(3), 'p99', lat[197]!.toFixed(3));
child.send('stop'); await new Promise(r => child.once('exit', r)); await p.remove(); await peer.close();
