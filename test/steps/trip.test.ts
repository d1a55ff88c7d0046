import { join } from 'node:path';
import { configure, runs, tasks } from '@millrace/sdk';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { startServices } from '../../examples/trip/services.ts';
import { descendants, millrace, repository, type Running } from '../cli/command.ts';
import { promote } from '../support/promote.ts';
import { testServer } from '../support/server.ts';

const scale = Number(process.env['MILLRACE_TEST_SCALE'] ?? 1);
const trips = Math.ceil(100 * scale);
const wanted = Math.ceil(200 * scale);
/** A run whose runner is lost four times ends as CRASHED. */
const kills = 3;
const isPoor = (n: number) => n % 10 === 0;

/** A generator of numbers from 0 up to 1, the same for a seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test(
  `${trips} trips, killed at ${wanted} random moments, are charged once each or not at all`,
  { timeout: 240_000 },
  async () => {
    const seed = Number(process.env['MILLRACE_TEST_SEED'] ?? fc.sample(fc.nat(), 1)[0]);
    console.log(`seed ${seed}`);
    const next = random(seed);
    let asked = 0;
    let whenAsked: (() => void) | undefined;
    const services = await startServices({
      port: 0,
      delayMs: () => next() * 120,
      onRequest() {
        asked += 1;
        whenAsked?.();
      },
    });
    onTestFinished(services.close);
    const server = await testServer();
    configure({ baseURL: server.url, secretKey: server.keys.prod });
    const project = join(repository, 'examples/trip');

    const started: Running[] = [];
    onTestFinished(async () => {
      for (const one of started) one.kill('SIGKILL');
      await Promise.all(started.map((one) => one.exitCode));
    });
    const work = async (): Promise<Running> => {
      const runner = millrace(['work', '--env', 'prod', '--concurrency', String(trips), '--json'], {
        cwd: project,
        env: { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod },
      });
      started.push(runner);
      await runner.line(/^\{"runner"/);
      return runner;
    };
    await server.ask(`/api/v1/projects/${server.projectRef}/envvars/prod`, {
      method: 'POST',
      body: { name: 'TRIP_SERVICES', value: services.url },
    });
    let runner = await work();
    await promote(server.url, server.keys.prod);

    const ids = await Promise.all(
      Array.from({ length: trips }, async (_, n) => {
        const traveller = `${isPoor(n) ? 'poor' : 'rich'} ${n}`;
        return (await tasks.trigger('book-trip', { traveller, to: 'Oslo', price: 100 + n })).id;
      }),
    );
    for (let kill = 0; kill < kills; kill++) {
      // After so many more requests, each of which is at another moment of another trip.
      const until = asked + Math.ceil((0.2 + next() * 1.2) * trips);
      await new Promise<void>((reached) => {
        whenAsked = () => void (asked >= until && reached());
      });
      const pid = runner.pid;
      for (const one of [pid, ...(await descendants(pid))]) process.kill(one, 'SIGKILL');
      await runner.exitCode;
      runner = await work();
    }

    const over = await Promise.all(
      ids.map((id) => runs.poll(id, { pollIntervalMs: 200, timeoutInMs: 120_000 })),
    );
    const of = (n: number, path: string) =>
      services.deeds.filter((deed) => deed.traveller.endsWith(` ${n}`) && deed.path === path);
    let lost = 0;
    for (const [n, run] of over.entries()) {
      const { data } = await runs.attempts(run.id);
      lost += data.filter(({ status }) => status === 'LOST').length;
      const charges = of(n, '/charges').length;
      expect([run.status, charges], `trip ${n}`).toEqual(isPoor(n) ? ['FAILED', 0] : ['COMPLETED', 1]);
      const [flight, hotel] = [of(n, '/flights'), of(n, '/hotels')];
      expect([flight.length, hotel.length], `trip ${n}`).toEqual([1, 1]);
      const canceled = services.deeds.filter(
        ({ path }) =>
          path === `/flights/${flight[0]?.id}/cancel` || path === `/hotels/${hotel[0]?.id}/cancel`,
      );
      expect(canceled, `trip ${n}`).toHaveLength(isPoor(n) ? 2 : 0);
    }
    const { data: sent } = await runs.list({ taskIdentifier: 'send-tickets', limit: 100 });
    expect(sent).toHaveLength(
      Math.min(100, Array.from({ length: trips }, (_, n) => n).filter((n) => !isPoor(n)).length),
    );
    console.log(
      `${lost} times a trip lost its process; the services were asked again ${services.repeated()} times`,
    );
    // The kills were there, and some were between a deed and its commit.
    expect(lost).toBeGreaterThanOrEqual(wanted);
    expect(services.repeated()).toBeGreaterThan(0);
  },
);
