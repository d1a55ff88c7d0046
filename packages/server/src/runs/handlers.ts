import { storedType, type operations } from '@millrace/contract';
import type { MintPublicToken } from '../auth/mint.ts';
import { oneTimeUseOf } from '../auth/one-time.ts';
import { endOf, isUser, type Environment } from '../auth/principal.ts';
import type { PacketAddresses } from '../packets/url.ts';
import { asProblem, notFound, unprocessable, type Problem } from '../problem.ts';
import type { TakeRuns } from './create/quota.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { ConnectedRunners } from '../runners/runners.ts';
import { authorizePacket, payloadOf } from './create/authorize-packet.ts';
import { cancelRun } from './cancel.ts';
import type { Engine } from './engine.ts';
import { storedKey } from './create/idempotency-key.ts';
import { filterOf } from './logs/handlers.ts';
import { propertiesOf } from './logs/line.ts';
import { readLines } from './logs/read.ts';
import { inOrder } from './create/in-order.ts';
import type { TriggerRequest } from './create/prepare.ts';
import { prepareRun } from './create/prepare.ts';
import { allInTurns } from '../json/turns.ts';
import { authorizeParent, authorizeReplacing, authorizeRun, authorizeRunToWrite } from './authorize.ts';
import { retrieveRun, type AddressOf } from './retrieve.ts';
import type { NewRun } from './create/row.ts';
import type { Triggered } from './create/trigger.ts';

type Named = Pick<
  typeof operations,
  | 'triggerTask'
  | 'triggerMany'
  | 'resetIdempotencyKey'
  | 'retrieveRun'
  | 'retrieveRunPacket'
  | 'cancelRun'
  | 'listRunLogs'
>;

export interface RunHandlerDependencies {
  readonly engine: Engine;
  readonly runners: ConnectedRunners;
  readonly trigger: (run: NewRun) => Promise<Triggered>;
  readonly mint: MintPublicToken;
  readonly packets: Pick<PacketAddresses, 'sign'>;
  /** Counts runs against the quota of batches: many triggers in one request are no way around it. */
  readonly takeRuns: TakeRuns;
  /** What became of a trigger of a transaction that has no run of its id. */
  readonly findTriggered: (
    environment: Environment,
    id: string,
  ) => Promise<{ readonly run: string } | { readonly problem: Problem } | undefined>;
}

const handleTokenSeconds = 3_600;

export function runHandlers({
  engine,
  runners,
  trigger,
  mint,
  packets,
  takeRuns,
  findTriggered,
}: RunHandlerDependencies): HandlersOf<Named> {
  const addressesFor =
    ({
      environment,
      baseUrl,
      principal,
    }: Pick<Request<Named['retrieveRun']>, 'environment' | 'baseUrl' | 'principal'>): AddressOf =>
    (name) =>
      baseUrl + packets.sign({ act: 'get', env: environment.id, name }, engine.clock.now(), endOf(principal));

  const prepared = (
    request: Request<Named['triggerTask']>,
    task: string,
    body: TriggerRequest,
  ): NewRun | Promise<NewRun> =>
    prepareRun(engine, request.environment, task, body, {
      idempotencyKey: request.header('idempotency-key'),
      idempotencyKeyTTL: request.header('idempotency-key-ttl'),
      traceparent: request.header('traceparent'),
      isLimited: true,
    });

  /** With it a client reads the run that it made, or has a browser read it. */
  const tokenOf = async (
    { principal }: Pick<Request<Named['triggerTask']>, 'principal'>,
    run: string,
    { collection }: NewRun,
  ): Promise<string | undefined> => {
    if (isUser(principal)) return undefined;
    // A run that collects has the payloads of others, which who may just trigger must not read.
    if (collection && principal.kind === 'publicToken') return undefined;
    const scopes = [`read:runs:${run}`, `write:inputStreams:${run}`];
    return mint(principal, { scopes, expiresInSeconds: handleTokenSeconds });
  };

  const handToken = async (
    request: Request<Named['triggerTask']>,
    id: string,
    run: NewRun,
  ): Promise<void> => {
    const token = await tokenOf(request, id, run);
    if (token !== undefined) request.setHeader('x-trigger-jwt', token);
    request.setHeader(
      'x-trigger-jwt-claims',
      JSON.stringify({ sub: request.environment.publicId, pub: true }),
    );
  };

  return {
    async triggerTask(request) {
      const { taskId } = request.params;
      request.authorize([{ type: 'tasks', id: taskId }]);
      authorizeReplacing(request, taskId, request.body.options);
      const parent = request.body.options?.parentRunId;
      if (parent !== undefined) await authorizeParent(engine.sql, request, parent);
      if (request.body.options?.payloadType === storedType)
        await authorizePacket(engine.sql, request, payloadOf(request.body));
      const preparing = prepared(request, taskId, request.body);
      const run = preparing instanceof Promise ? await preparing : preparing;
      const triggered = await trigger(withCaller(request, run));
      if (triggered.isDropped) return triggered;
      await handToken(request, triggered.id, run);
      return triggered;
    },

    async triggerMany(request) {
      const { items } = request.body;
      // All or none: who may not trigger one of the tasks learns nothing of the others.
      for (const task of new Set(items.map((item) => item.task)))
        request.authorize([{ type: 'tasks', id: task }]);
      if (items.length > 1 && oneTimeUseOf(request.principal)) {
        throw unprocessable('A one-time token creates one run: send one item');
      }
      request.charge(items.length - 1);
      takeRuns(request, items.length);
      const { principal } = request;
      const isRun = principal.kind === 'secretKey' && principal.attempt !== undefined;
      const prepareItem = async (item: (typeof items)[number]): Promise<NewRun> => {
        authorizeReplacing(request, item.task, item.options);
        const parent = item.options?.parentRunId;
        if (parent !== undefined) await authorizeParent(engine.sql, request, parent);
        if (item.options?.payloadType === storedType)
          await authorizePacket(engine.sql, request, payloadOf(item));
        return prepareRun(engine, request.environment, item.task, item, { isLimited: true });
      };
      const turn = inOrder(items.length);
      const results = await allInTurns(items, async (item, index) => {
        try {
          const run = await turn(index, prepareItem(item));
          const triggered = await trigger(withCaller(request, run, index));
          if (!isRun || triggered.isDropped) return triggered;
          return { ...triggered, publicAccessToken: await tokenOf(request, triggered.id, run) };
        } catch (error) {
          const problem = asProblem(error);
          if (problem) return { status: problem.status, error: problem.message };
          throw error;
        }
      });
      if (principal.kind === 'secretKey' && !isRun) {
        // A client signs for the runs that it wants a token of: for each of them here would be a third of a trigger's cost.
        request.setHeader(
          'x-trigger-jwt-claims',
          JSON.stringify({ sub: request.environment.publicId, pub: true }),
        );
      }
      return { results };
    },

    async resetIdempotencyKey(request) {
      const { key } = request.params;
      const { taskIdentifier } = request.body;
      const reset = await engine.sql`
        delete from idempotency_keys where env = ${request.environment.id} and task = ${taskIdentifier} and key = ${storedKey(key)}`;
      if (reset.count === 0) {
        throw notFound(
          `No idempotency key "${key.slice(0, 100)}" of the task "${taskIdentifier}" is remembered.`,
        );
      }
      return { id: key };
    },

    async retrieveRun(request) {
      const { runId } = request.params;
      const showsTrigger = request.query.trigger === 'true';
      const retrieve = (id: string) =>
        retrieveRun(engine, request.environment.id, id, addressesFor(request), showsTrigger);
      let run = await retrieve(runId);
      if (!run) {
        const triggered = await findTriggered(request.environment, runId);
        if (triggered && 'problem' in triggered) {
          request.authorize([{ type: 'runs', id: runId }]);
          throw triggered.problem;
        }
        if (triggered) run = await retrieve(triggered.run);
      }
      // A client that has just triggered may be ahead of a replica: let it ask again.
      if (!run) throw notFound('Not found', true);
      authorizeRun(request, run);
      return run;
    },

    async retrieveRunPacket(request) {
      const { runId, field } = request.params;
      const names: string[] = [];
      const addressOf = addressesFor(request);
      const run = await retrieveRun(engine, request.environment.id, runId, (name) => {
        names.push(name);
        return addressOf(name);
      });
      if (run) authorizeRun(request, run);
      const presignedUrl = field === 'payload' ? run?.payloadPresignedUrl : run?.outputPresignedUrl;
      if (presignedUrl === undefined) throw notFound();
      // The payload is asked for first.
      return { presignedUrl, storagePath: (field === 'payload' ? names[0] : names.at(-1)) ?? '' };
    },

    async cancelRun(request) {
      const { runId } = request.params;
      const env = request.environment.id;
      const run = await retrieveRun(engine, env, runId);
      if (run) authorizeRunToWrite(request, run);
      if (!run || !(await cancelRun(engine, runners, env, runId))) throw notFound('Resource not found');
      return { id: runId };
    },

    async listRunLogs(request) {
      const { runId } = request.params;
      const run = await retrieveRun(engine, request.environment.id, runId);
      if (!run) throw notFound('Run not found');
      authorizeRun(request, run);
      const { after, limit } = request.query;
      const { lines, next } = await readLines(engine.sql, request.environment.id, runId, {
        ...filterOf(request.query),
        after,
        limit,
      });
      return {
        lines: lines.map((line) => ({
          attempt: line.attempt,
          at: line.at.toISOString(),
          level: line.level,
          message: line.message,
          properties: propertiesOf(line),
        })),
        next,
      };
    },
  };
}

/** With what the caller brings: a token that is good for one run, a key that this request will be known by when it is sent again. */
function withCaller(
  { principal, requestKey }: Pick<Request<Named['triggerTask']>, 'principal' | 'requestKey'>,
  run: NewRun,
  index = 0,
): NewRun {
  const oneTime = oneTimeUseOf(principal);
  if (requestKey === undefined && !oneTime) return run;
  return {
    ...run,
    ...(oneTime && { oneTime }),
    ...(requestKey !== undefined && {
      requestKey: requestKey.slice(0, -3) + index.toString(16).padStart(3, '0'),
    }),
  };
}
