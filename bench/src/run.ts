/**
 * Measures workloads, ours and peers in rounds (A B C, A B C …), so that other load on the machine affects all of them.
 *
 *   npx node bench/src/run.ts w1 w2 --rounds 3 --peers graphile,bullmq:always
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bullmqOnPostgres } from './adapters/bullmq-postgres.ts';
import { bullmq } from './adapters/bullmq.ts';
import { graphile } from './adapters/graphile.ts';
import { millrace } from './adapters/millrace.ts';
import { pgboss } from './adapters/pgboss.ts';
import { dataFolder, resultsFolder } from './folders.ts';
import { flushCost } from './flush.ts';
import { startDatabases, type Databases } from './postgres.ts';
import { rounded } from './statistics.ts';
import type { Profile, System } from './system.ts';
import { tableOf, type Measured } from './table.ts';
import { w1 } from './workloads/w1.ts';
import { w2 } from './workloads/w2.ts';
import { w3 } from './workloads/w3.ts';
import { w4 } from './workloads/w4.ts';
import { w5 } from './workloads/w5.ts';
import { w6 } from './workloads/w6.ts';
import { w7 } from './workloads/w7.ts';
import type { Figures, Workload } from './workload.ts';

const workloads: Readonly<Record<string, Workload>> = { w1, w2, w3, w4, w5, w6, w7 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    n: { type: 'string' },
    peers: { type: 'string' },
    'without-ours': { type: 'boolean', default: false },
    profile: { type: 'string' },
    concurrency: { type: 'string' },
    'cpu-prof': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const say = (text: string): void => console.error(text);
const number = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

function systemOf(name: string, databases: Databases): System {
  const profiled = values['cpu-prof'];
  if (name === 'millrace') return millrace(databases, { alone: false, profiled });
  if (name === 'millrace:alone') return millrace(databases, { alone: true, profiled });
  if (name === 'graphile') return graphile(databases);
  if (name === 'pgboss') return pgboss(databases);
  if (name === 'bullmq:always') return bullmq('always');
  if (name === 'bullmq:postgres') return bullmqOnPostgres(databases);
  if (name === 'bullmq:everysec') return bullmq('everysec');
  throw new Error(`Unknown system: ${name}.`);
}

function systemsOf({ systems }: Workload): string[] {
  const ours = values['without-ours'] ? [] : systems.filter((name) => name.startsWith('millrace'));
  const peers = systems.filter((name) => !name.startsWith('millrace'));
  return [...ours, ...(values.peers?.split(',').filter((name) => name !== '' && name !== 'none') ?? peers)];
}

async function measureOnce(workload: Workload, system: System): Promise<Figures> {
  const address = await system.begin();
  const settings = {
    n: number(values.n),
    profile: values.profile as Profile | undefined,
    concurrency: number(values.concurrency),
  };
  const figures = await workload.measure(system, address, settings);
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)]));
}

async function main(): Promise<void> {
  const chosen = positionals.includes('all') ? Object.keys(workloads) : positionals;
  const unknown = chosen.find((name) => !workloads[name]);
  if (chosen.length === 0 || unknown !== undefined) {
    say(
      `Name workloads: ${Object.keys(workloads).join(' ')} or all${unknown ? `; there is no ${unknown}` : ''}.`,
    );
    process.exitCode = 2;
    return;
  }
  mkdirSync(dataFolder, { recursive: true });
  mkdirSync(resultsFolder, { recursive: true });
  // Compiled sources are kept, so that no measured process has the compiler in its memory.
  process.env['NODE_COMPILE_CACHE'] = join(dataFolder, 'compiled');
  process.env['NODE_NO_WARNINGS'] = '1';
  const results = join(resultsFolder, `${new Date().toISOString().slice(0, 10)}.jsonl`);
  const databases = await startDatabases();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, Node ${process.version}; PostgreSQL: ${databases.settings}`;
  if (!values.json) console.log(machine);
  try {
    for (const name of chosen) {
      const workload = workloads[name] as Workload;
      const measured: Measured[] = [];
      for (let round = 1; round <= Number(values.rounds); round++) {
        for (const systemName of systemsOf(workload)) {
          const flushMs = rounded(flushCost());
          const load = rounded(loadavg()[0]);
          const system = systemOf(systemName, databases);
          const outcome = await measureOnce(workload, system).then(
            (figures) => ({ figures }),
            (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
          );
          await system.end();
          const line = { round, system: systemName, flushMs, load, ...outcome };
          measured.push(line);
          const text = JSON.stringify({ at: new Date().toISOString(), workload: name, ...line });
          appendFileSync(results, `${text}\n`);
          if (values.json) console.log(text);
          else say(`${name} round ${round} ${systemName} (flush ${flushMs} ms): ${JSON.stringify(outcome)}`);
        }
      }
      if (!values.json) console.log(tableOf(workload, measured));
    }
  } finally {
    await databases.stop();
  }
}

await main();
process.exit();
