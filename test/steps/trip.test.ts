import { join } from 'node:path';
import { configure, runs, tasks } from '@millrace/sdk';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { startServices } from '../../examples/trip/services.ts';
import { descendants, millrace, repository, type Running } from '../cli/command.ts';
import { promote } from '../support/promote.ts';
import { testServer } from '../support/server.ts';
import { isLong, numRuns } from '../support/long.ts';

/** The number of trips that are booked concurrently. */
const together = isLong ? 60 : 20;
const count = isLong ? numRuns(200) : 30;
/** The maximum losses of a run: at the fourth loss of its runner it would end as CRASHED. */
const killsOfRun = 3;
const isPoor = (n: number) => n % 5 === 0;

/** A generator of numbers from 0 up to 1, the same for the same seed. */
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
  `trips that are killed at ${count} random moments are charged at most once each`,
  { timeout: 300_000 },
  async () => {
    const seed = Number(process.env['MILLRACE_TEST_SEED'] ?? fc.sample(fc.nat(), 1)[0]);
    console.log(`seed ${seed}`);
    const next = random(seed);
    let requests = 0;
    let onRequested: (() => void) | undefined;
    const services = await startServices({
      port: 0,
      // Mostly fast, sometimes slow: trips that begin together are soon at different steps.
      delayMs: () => next() ** 3 * 300,
      onRequest() {
        requests += 1;
        onRequested?.();
      },
    });
    onTestFinished(services.close);
    const server = await testServer();
    configure({ baseURL: server.url, secretKey: server.keys.prod });
    await server.ask(`/api/v1/projects/${server.projectRef}/envvars/prod`, {
      method: 'POST',
      body: { name: 'TRIP_SERVICES', value: services.url },
    });

    const started: Running[] = [];
    onTestFinished(async () => {
      for (const process of started) process.kill('SIGKILL');
      await Promise.all(started.map((child) => child.exitCode));
    });
    const work = async (): Promise<Running> => {
      const runner = millrace(['work', '--env', 'prod', '--concurrency', String(together), '--json'], {
        cwd: join(repository, 'examples/trip'),
        env: { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod },
      });
      started.push(runner);
      await runner.line(/^\{"runner"/);
      return runner;
    };
    let runner = await work();
    await promote(server.url, server.keys.prod);

    const of = (traveler: string, path: string) =>
      services.deeds.filter((deed) => deed.traveler === traveler && deed.path === path);
    let lost = 0;
    let paid = 0;
    for (let trips = 0; lost < count;) {
      const travelers = Array.from(
        { length: together },
        () => `${isPoor(++trips) ? 'poor' : 'rich'} ${trips}`,
      );
      const ids = await Promise.all(
        travelers.map(
          async (traveler) => (await tasks.trigger('book-trip', { traveler, to: 'Oslo', price: 100 })).id,
        ),
      );
      for (let kill = 0; kill < killsOfRun; kill++) {
        // The kill follows after this many requests, each at another moment of another trip.
        const until = requests + Math.ceil((0.3 + next()) * together);
        await Promise.race([
          new Promise<void>((reached) => {
            onRequested = () => void (requests >= until && reached());
          }),
          // The remaining trips may not send this many.
          new Promise((waited) => setTimeout(waited, 3_000)),
        ]);
        const { pid } = runner;
        // Executors first: without their runner they would end by themselves.
        for (const target of [...(await descendants(pid)).toReversed(), pid]) {
          try {
            process.kill(target, 'SIGKILL');
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
          }
        }
        await runner.exitCode;
        runner = await work();
      }
      const over = await Promise.all(
        ids.map((id) => runs.poll(id, { pollIntervalMs: 200, timeoutInMs: 120_000 })),
      );
      for (const [index, traveler] of travelers.entries()) {
        const run = over[index];
        if (!run) throw new Error('A run is missing.');
        const { data } = await runs.attempts(run.id);
        lost += data.filter(({ status }) => status === 'LOST').length;
        const isPaid = traveler.startsWith('rich');
        if (isPaid) paid += 1;
        expect([run.status, of(traveler, '/charges').length], traveler).toEqual(
          isPaid ? ['COMPLETED', 1] : ['FAILED', 0],
        );
        const [flight, hotel] = [of(traveler, '/flights'), of(traveler, '/hotels')];
        expect([flight.length, hotel.length], traveler).toEqual([1, 1]);
        const cancellations = services.deeds.filter(({ path }) =>
          [`/flights/${flight[0]?.id}/cancel`, `/hotels/${hotel[0]?.id}/cancel`].includes(path),
        );
        expect(cancellations, traveler).toHaveLength(isPaid ? 0 : 2);
      }
    }
    let sent = 0;
    for await (const _ of runs.list({ taskIdentifier: 'send-tickets', limit: 100 })) sent += 1;
    expect(sent).toBe(paid);
    console.log(`${lost} times a trip lost its process; ${services.repeated()} requests were repeated`);
    // Some kills were between an effect and the commit of its step.
    expect(services.repeated()).toBeGreaterThan(0);
  },
);
