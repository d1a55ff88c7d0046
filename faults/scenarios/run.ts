/** Runs one scenario: load, fault, heal, drain, check. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { sessions } from '@millrace/sdk';
import { check, type Checked } from '../check/check.ts';
import type { Probe } from '../check/availability.ts';
import { readLines } from '../history/read.ts';
import { readRuns, readStored } from '../history/stored.ts';
import type { Effect, Operation } from '../history/types.ts';
import { inNode } from '../network/namespaces.ts';
import { members, runners, servers } from '../network/nodes.ts';
import { randomOf } from '../random.ts';
import { clientFile } from '../system/folders.ts';
import { clientVariables, effectsOf } from '../system/millrace.ts';
import { databaseAnswers, type System } from '../system/system.ts';
import { now, seconds, until } from '../time.ts';
import type { Scenario } from './scenario.ts';

export interface Result extends Checked {
  readonly scenario: string;
  readonly title: string;
  /** The choices of the seed. */
  readonly chosen: string;
  readonly startedAt: string;
  /** How many acknowledged writes of the suite itself are missing: the database has lost commits, and Millrace could not prevent that. */
  readonly lostByDatabase: number;
}

export interface Durations {
  /** How long the load continues after the fault. */
  readonly secondsAfter: number;
  /** Faults end after this time at the latest. */
  readonly maxSeconds: number;
}

const probeEverySeconds = 0.3;

export async function runScenario(
  system: System,
  name: string,
  scenario: Scenario,
  seed: number,
  { secondsAfter, maxSeconds }: Durations,
  progress: (text: string) => void,
): Promise<Result> {
  await system.follow(scenario.route ?? 'haproxy');
  const leader = await system.whole();
  const startedAt = new Date();
  const random = randomOf(seed);
  const server = random.pick(servers);
  const runner = random.pick(runners);
  const warmUp = random.between(6, 14);
  const prefix = `${name}-${startedAt.getTime().toString(36)}`;
  const chosen = `leader ${leader}, ${server}, ${runner}, after ${warmUp.toFixed(1)} s`;
  progress(`${name}: ${scenario.title} (${chosen}).`);

  const load = await startLoad(system, prefix, seed);
  const probing = startProbes(system);
  try {
    await seconds(warmUp);
    progress(`${name}: injecting.`);
    const replicas = members.filter((member) => member !== leader);
    const heal = await scenario.inject({ system, leader, replicas, random, server, runner });
    await seconds(Math.min(scenario.lasts, maxSeconds));
    await heal();
    progress(`${name}: healed.`);
    await seconds(secondsAfter);
  } finally {
    await Promise.all([load.stop(), probing.stop()]);
  }
  await system.whole();
  progress(`${name}: draining.`);
  const isExcused = (task: string): boolean => scenario.movesDatabaseClock === true && isWaiting(task);
  await drain(system, prefix, isExcused).catch((error: Error) => progress(`${name}: ${error.message}`));

  const channels = ['a', 'b', 'c'].map((channel) => `${prefix}-${channel}`);
  const client = await system.connect();
  const stored = await readStored(client, prefix, channels, startedAt);
  const lostByDatabase = await countLost(client, probing.probes);
  await client.end();
  for (const channel of channels) await sessions.close(channel, { reason: 'The scenario has ended.' });
  const nominal = startedAt.toISOString();
  const history = {
    operations: await readLines<Operation>(load.file),
    effects: await readLines<Effect>(effectsOf(system.folder), ({ key, point }) =>
      point === 'tick' ? key > nominal : key.startsWith(prefix),
    ),
    stored,
  };
  const isAffected = (other: string): boolean => scenario.affectsRunner === true && other === runner;
  return {
    scenario: name,
    title: scenario.title,
    chosen,
    startedAt: nominal,
    lostByDatabase,
    ...check(history, probing.probes, { runnerOf: system.runnerOf, isAffected, isExcused }),
  };
}

async function startLoad(system: System, prefix: string, seed: number) {
  const file = join(system.folder, `${prefix}.jsonl`);
  const args = [process.execPath, clientFile, prefix, String(seed), file];
  const child = spawn('nsenter', [...inNode('client'), ...args], {
    env: { ...process.env, ...clientVariables(system.secrets) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('The load client could not start.'))),
  ]);
  return {
    file,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function startProbes(system: System): { readonly probes: readonly Probe[]; stop(): Promise<void> } {
  const probes: Probe[] = [];
  let stopped = false;
  const probing = (async () => {
    while (!stopped) {
      const at = now();
      const id = randomUUID();
      probes.push({ id, at, ok: await databaseAnswers(system.route(), id) });
      await seconds(probeEverySeconds);
    }
  })();
  return {
    probes,
    async stop() {
      stopped = true;
      await probing;
    },
  };
}

async function countLost(client: pg.Client, probes: readonly Probe[]): Promise<number> {
  const ids = probes.filter(({ ok }) => ok).map(({ id }) => id);
  const { rowCount } = await client.query('select from faults_probe where id = any($1)', [ids]);
  return ids.length - (rowCount ?? 0);
}

/** Tasks that wait for a time, or for a token with a timeout. */
const isWaiting = (task: string): boolean => task === 'waiting' || task === 'token';

/** Waits until all runs of the load have ended. The checks report those that have not. */
async function drain(system: System, prefix: string, isExcused: (task: string) => boolean): Promise<void> {
  const client = await system.connect();
  try {
    await until('all runs have ended', 150, async () => {
      const runs = await readRuns(client, prefix);
      return runs.every(({ status, task }) => status !== null || isExcused(task));
    });
  } finally {
    await client.end();
  }
}
