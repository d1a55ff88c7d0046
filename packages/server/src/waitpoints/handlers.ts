import { redacted, type OperationsOf } from '@millrace/contract';
import type { MintPublicToken } from '../auth/mint.ts';
import { isUser, type Principal } from '../auth/principal.ts';
import { allows } from '../auth/scopes.ts';
import type { MasterKey } from '../auth/seal.ts';
import { notFound } from '../problem.ts';
import { parseIfJson, parseRequest } from '../json/foreign.ts';
import { Turns } from '../json/turns.ts';
import type { HandlersOf } from '../request.ts';
import { addressOf, checkCallback } from './callback.ts';
import { completeToken, completionBy, type CompleteDependencies } from './complete.ts';
import { createToken } from './create.ts';
import { listTokens } from './list.ts';
import { retrieveToken } from './retrieve.ts';

export interface WaitpointHandlerDependencies extends CompleteDependencies {
  readonly masterKey: MasterKey;
  readonly mint: MintPublicToken;
}

const handleTokenSeconds = 86_400;

export function waitpointHandlers(
  dependencies: WaitpointHandlerDependencies,
): HandlersOf<OperationsOf<'waitpoints'>> {
  const { engine, masterKey, mint } = dependencies;
  const missing = () => notFound('Waitpoint not found');
  const nameable = (id: string): string => {
    if (id.includes('\0')) throw missing();
    return id;
  };
  return {
    async createWaitpointToken(request) {
      const { environment, principal } = request;
      const created = await createToken(engine, masterKey, environment.id, request.body ?? {});
      const { id, isCached } = created;
      if (!isUser(principal)) {
        // For use by the frontend that completes the token.
        const scopes = [`write:waitpoints:${id}`];
        const token = await mint(principal, { scopes, expiresInSeconds: handleTokenSeconds });
        if (token !== undefined) request.setHeader('x-trigger-jwt', token);
        request.setHeader('x-trigger-jwt-claims', JSON.stringify({ sub: environment.publicId, pub: true }));
      }
      return { id, isCached, url: addressOf(masterKey, created, request.baseUrl) };
    },

    async listWaitpointTokens({ environment, principal, query, baseUrl }) {
      const { data, pagination } = await listTokens(
        engine,
        masterKey,
        environment.id,
        query,
        baseUrl,
        mayReadRuns(principal),
      );
      return { data: data.map((token) => shownTo(principal, token)), pagination };
    },

    async retrieveWaitpointToken(request) {
      const id = nameable(request.params.waitpointId);
      const { environment, principal, baseUrl } = request;
      const token = await retrieveToken(engine, masterKey, environment.id, id, baseUrl, {
        runs: mayReadRuns(principal),
        details: request.query.details === 'true',
      });
      if (!token) throw missing();
      request.authorize([{ type: 'waitpoints', id }]);
      return shownTo(principal, token);
    },

    async completeWaitpointToken(request) {
      const id = nameable(request.params.waitpointId);
      request.authorize([{ type: 'waitpoints', id }]);
      const by = completionBy(request.principal);
      if (!(await completeToken(dependencies, request.environment.id, id, request.body?.data, by)))
        throw missing();
      return { success: true };
    },

    async completeWaitpointByCallback(request) {
      const { waitpointId: id, hash } = request.params;
      const env = await checkCallback(engine.sql, masterKey, id, hash);
      const turns = new Turns();
      const data = calledBack(request.body, request.header('content-type'));
      await turns.next();
      await completeToken(dependencies, env, id, data, { type: 'url' }, 'The body');
      return { success: true };
    },
  };
}

const mayReadRuns = (principal: Principal): boolean =>
  isUser(principal) || allows(principal.scopes, 'read', [{ type: 'runs' }]);

/** The URL alone permits completing a token, so a browser session does not receive it if its user may not complete tokens. */
const shownTo = <T extends { readonly url: string }>(principal: Principal, token: T): T =>
  principal.kind === 'browser' &&
  (isUser(principal) || !allows(principal.scopes, 'write', [{ type: 'waitpoints' }]))
    ? { ...token, url: redacted }
    : token;

/** The value of a callback. Senders choose their own format, and few of them declare it correctly. */
function calledBack(text: string, contentType = ''): unknown {
  if (text === '') return undefined;
  if (contentType === '' || /json/i.test(contentType)) return parseRequest(text);
  return parseIfJson(text, text);
}
