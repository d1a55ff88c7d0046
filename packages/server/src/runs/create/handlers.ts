import { storedType, type Operations, type OperationsOf } from '@millrace/contract';
import type { MintPublicToken } from '../../auth/mint.ts';
import { oneTimeUseOf } from '../../auth/one-time.ts';
import { isUser } from '../../auth/principal.ts';
import { allInTurns } from '../../json/turns.ts';
import { asProblem, unprocessable } from '../../problem.ts';
import type { HandlersOf, Request } from '../../request.ts';
import { authorizeParent, authorizeReplacing } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { authorizePacket, payloadOf } from './authorize-packet.ts';
import { forgetKey } from './forget-key.ts';
import { inOrder } from './in-order.ts';
import { prepareRun, type TriggerRequest } from './prepare.ts';
import type { TakeRuns } from './quota.ts';
import type { NewRun } from './row.ts';
import type { Triggered } from './trigger.ts';

export interface TriggerHandlerDependencies {
  readonly engine: Engine;
  readonly trigger: (run: NewRun) => Promise<Triggered>;
  readonly mint: MintPublicToken;
  /** Counts runs against the batch quota, so that many triggers in one request cannot bypass it. */
  readonly takeRuns: TakeRuns;
}

const handleTokenSeconds = 3_600;

export function triggerHandlers({
  engine,
  trigger,
  mint,
  takeRuns,
}: TriggerHandlerDependencies): HandlersOf<OperationsOf<'tasks'>> {
  const prepared = (
    request: Request<Operations['triggerTask']>,
    task: string,
    body: TriggerRequest,
  ): NewRun | Promise<NewRun> =>
    prepareRun(engine, request.environment, task, body, {
      idempotencyKey: request.header('idempotency-key'),
      idempotencyKeyTTL: request.header('idempotency-key-ttl'),
      traceparent: request.header('traceparent'),
      isLimited: true,
    });

  /** A token with which a client, or a browser on its behalf, can read the created run. */
  const tokenOf = async (
    { principal }: Pick<Request<Operations['triggerTask']>, 'principal'>,
    run: string,
    { collection }: NewRun,
  ): Promise<string | undefined> => {
    if (isUser(principal)) return undefined;
    // A collecting run contains the payloads of other callers; permission to trigger does not include reading those.
    if (collection && principal.kind === 'publicToken') return undefined;
    const scopes = [`read:runs:${run}`, `write:inputStreams:${run}`];
    return mint(principal, { scopes, expiresInSeconds: handleTokenSeconds });
  };

  const handToken = async (
    request: Request<Operations['triggerTask']>,
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
      // All or none, so that a caller without permission for one task learns nothing about the others.
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
          if (problem) return { status: problem.status, code: problem.code, error: problem.message };
          throw error;
        }
      });
      if (principal.kind === 'secretKey' && !isRun) {
        // Clients sign tokens for the runs they need, because signing one for each run here would be a third of a trigger's cost.
        request.setHeader(
          'x-trigger-jwt-claims',
          JSON.stringify({ sub: request.environment.publicId, pub: true }),
        );
      }
      return { results };
    },

    async resetIdempotencyKey(request) {
      const { key } = request.params;
      await forgetKey(engine.sql, request.environment.id, request.body.taskIdentifier, key);
      return { id: key };
    },
  };
}

/** Adds the caller's data: a token for one run, and a request key that identifies this request when it is resent. */
function withCaller(
  { principal, requestKey }: Pick<Request<Operations['triggerTask']>, 'principal' | 'requestKey'>,
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
