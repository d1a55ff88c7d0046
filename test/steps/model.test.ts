import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { inFull } from '@millrace/contract/compact';
import type { Assignment, EnvironmentInfo, Outcome } from '@millrace/contract/runner';
import { step, task } from '@millrace/sdk';
import { execute } from '@millrace/sdk/executor';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../packages/runner/src/runner/connection.ts';
import { Credentials } from '../../packages/runner/src/runner/credential.ts';
import { promote } from '../support/promote.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { numRuns, scale } from '../support/long.ts';

/**
 * Tests runs with steps against docs/guarantees.md. The real SDK executes a random program of steps against a real
 * server. Each execution dies at a random point: before or after an effect, before a request reaches the server, or after the server has
 * committed it and before the reply. Afterwards each step has one result, which is the only one that the code saw, and its effect
 * happened once more for each death between the effect and the commit.
 */

/** A single step; parallel steps; a loop; a step whose function throws at first. */
type Part =
  | { readonly kind: 'one'; readonly name: string }
  | { readonly kind: 'parallel'; readonly branches: readonly (readonly string[])[] }
  | { readonly kind: 'loop'; readonly name: string; readonly times: number };

/** The event of an execution at which it dies. */
type Death = number;

interface Drawn {
  readonly parts: readonly Part[];
  readonly deaths: readonly Death[];
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  parts: fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('one' as const), name: fc.constantFrom('a', 'b', 'c') }),
      fc.record({
        kind: fc.constant('parallel' as const),
        branches: fc.constantFrom(
          [['p', 'q'], ['r']],
          [['p'], ['q'], ['r']],
          [['p', 's'], ['q', 't'], ['r']],
        ),
      }),
      fc.record({
        kind: fc.constant('loop' as const),
        name: fc.constantFrom('a', 'x'),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    ),
    { minLength: 1, maxLength: 4 },
  ),
  deaths: fc.array(fc.integer({ min: 0, max: 24 }), { maxLength: 10 }),
});

/** The lifetime of the process of an execution. */
class Life {
  readonly #diesAt: number;
  #events = 0;
  isDead = false;
  readonly over: Promise<'died'>;
  #die!: () => void;

  constructor(diesAt: number) {
    this.#diesAt = diesAt;
    this.over = new Promise((resolve) => {
      this.#die = () => resolve('died');
    });
  }

  /** Counts an event. False if the process is dead, or dies now. */
  happens(): boolean {
    if (this.isDead) return false;
    if (this.#events++ !== this.#diesAt) return true;
    this.isDead = true;
    this.#die();
    return false;
  }
}

const never = new Promise<never>(() => undefined);

/** The connection between the code and the server: requests of a dead process do not arrive, and replies to it are discarded. */
async function startProxy(url: string, lives: Map<string, Life>): Promise<string> {
  const { port } = new URL(url);
  const proxy = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const life = lives.get(request.headers.authorization ?? '');
      if (!life?.happens()) return request.socket.destroy();
      const { method, url: path, headers } = request;
      const onward = http.request({ port, method, path, headers }, (answered) => {
        const parts: Buffer[] = [];
        answered.on('data', (part: Buffer) => parts.push(part));
        answered.on('end', () => {
          // The server has committed.
          if (!life.happens()) return request.socket.destroy();
          response.writeHead(answered.statusCode ?? 500, answered.headers).end(Buffer.concat(parts));
        });
      });
      onward.on('error', () => request.socket.destroy());
      onward.end(Buffer.concat(chunks));
    });
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** A runner whose processes die on request. */
interface MortalRunner {
  /** The next assignment. */
  next(): Promise<Assignment>;
  complete(assignment: Assignment, outcome: Outcome): void;
  /** The credential of an attempt, as a header. */
  credentialOf(assignment: Assignment): string;
  readonly environment: EnvironmentInfo;
}

async function startMortalRunner(server: TestServer): Promise<MortalRunner> {
  const version = await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'content-model', tasks: [{ id: 'model', filePath: 'tasks/model.ts' }] },
  });
  const waiting: Assignment[] = [];
  let arrived: (() => void) | undefined;
  const credentials = new Credentials(server.keys.prod);
  let environment!: EnvironmentInfo;
  const connection = await new Promise<Connection>((resolve, reject) => {
    const opened = new Connection({
      url: server.url,
      secretKey: server.keys.prod,
      hello: () => ({
        type: 'hello',
        runner: 'mortal',
        host: 'test',
        pid: process.pid,
        capacity: 1,
        versions: [version.body.version],
        leased: [],
      }),
      onWelcome(welcome) {
        environment = welcome.environment;
        credentials.learn(environment.id, welcome.now);
        resolve(opened);
      },
      onMessage(message) {
        if (message.type !== 'run') return;
        waiting.push(...message.assignments.map((assignment) => inFull(assignment)));
        arrived?.();
      },
      onState() {},
      onLeasesLost() {},
      onRefused: reject,
    });
  });
  onTestFinished(() => connection.close());
  await promote(server.url, server.keys.prod, version.body.version);
  return {
    environment,
    async next() {
      while (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
      return waiting.shift() as Assignment;
    },
    complete: ({ run, fence }, outcome) =>
      void connection.send({ type: 'settle', settlements: [{ run, fence, outcome }] }),
    credentialOf: (assignment) => credentials.of(assignment).text,
  };
}

test('a step has one result, and only a death before the commit repeats its effect', async () => {
  const server = await testServer();
  const runner = await startMortalRunner(server);
  const lives = new Map<string, Life>();
  const before = process.env['MILLRACE_API_URL'];
  process.env['MILLRACE_API_URL'] = await startProxy(server.url, lives);
  onTestFinished(() => {
    if (before === undefined) delete process.env['MILLRACE_API_URL'];
    else process.env['MILLRACE_API_URL'] = before;
  });
  let deaths = 0;
  let repeated = 0;

  const check = async ({ parts, deaths: plan }: Drawn): Promise<void> => {
    const { body } = await server.ask('/api/v1/tasks/model/trigger', { method: 'POST', body: {} });
    /** The number of effects of each step, and the results that its code saw. */
    const effects = new Map<string, number>();
    const seen = new Map<string, Set<string>>();
    const left = [...plan];
    for (;;) {
      const assignment = await runner.next();
      expect(assignment.run).toBe(body.id);
      const life = new Life(left.shift() ?? Number.POSITIVE_INFINITY);
      const credential = runner.credentialOf(assignment);
      lives.set(`Bearer ${credential}`, life);
      const act = async (name: string): Promise<void> => {
        let own = '';
        const value = await step.run(name, async ({ idempotencyKey }) => {
          own = idempotencyKey;
          if (!life.happens()) return never;
          const count = (effects.get(idempotencyKey) ?? 0) + 1;
          effects.set(idempotencyKey, count);
          if (!life.happens()) return never;
          return `${idempotencyKey} ${count}`;
        });
        if (life.isDead) return never;
        const key = value.slice(0, value.lastIndexOf(' '));
        if (own !== '') expect(key).toBe(own);
        seen.set(key, (seen.get(key) ?? new Set()).add(value));
      };
      const program = task({
        id: 'model',
        async run() {
          for (const part of parts) {
            if (part.kind === 'one') await act(part.name);
            else if (part.kind === 'loop') for (let n = 0; n < part.times; n++) await act(part.name);
            else {
              await step.parallel(
                part.branches.map((branch) => async () => {
                  for (const name of branch) await act(name);
                }),
              );
            }
          }
          return 'over';
        },
      });
      const stop = new AbortController();
      const executed = execute({
        task: program,
        assignment,
        environment: runner.environment,
        signal: stop.signal,
        onLog() {},
        credential: () => credential,
      });
      const outcome = await Promise.race([executed, life.over]);
      if (outcome === 'died') {
        deaths += 1;
        stop.abort({ kind: 'settled' });
        runner.complete(assignment, { kind: 'released', started: true });
        continue;
      }
      expect(outcome).toMatchObject({ kind: 'completed', output: 'over' });
      runner.complete(assignment, outcome);
      break;
    }
    const { data } = (await server.ask(`/api/v1/runs/${body.id}/steps`)).body;
    const results = new Map<string, string>(
      data.map(({ name, output }: { name: string; output: string }) => [`${body.id}/${name}`, output]),
    );
    expect([...results.keys()].toSorted()).toEqual([...effects.keys()].toSorted());
    const used = plan.length - left.length;
    let extra = 0;
    for (const [key, count] of effects) {
      // The stored result is that of one of the effects, and the code saw no other.
      const number = Number(results.get(key)?.split(' ').at(-1));
      expect(number).toBeGreaterThanOrEqual(1);
      expect(number).toBeLessThanOrEqual(count);
      expect([...(seen.get(key) ?? [])]).toEqual([results.get(key)]);
      expect(count).toBeLessThanOrEqual(1 + used);
      extra += count - 1;
    }
    repeated += extra;
    if (used === 0) expect(extra).toBe(0);
  };

  await fc.assert(fc.asyncProperty(drawn, check), {
    // The programs below, and some random ones.
    numRuns: 14 + numRuns(26),
    // Each event of two executions of two steps: a kill at every await, before and after every commit.
    examples: Array.from({ length: 14 }, (_, at): [Drawn] => [
      {
        parts: [
          { kind: 'one', name: 'a' },
          { kind: 'one', name: 'b' },
        ],
        deaths: [at, Math.max(0, 13 - at)],
      },
    ]),
  });
  expect(deaths).toBeGreaterThan(20 * scale);
  expect(repeated).toBeGreaterThan(0);
}, 120_000);
