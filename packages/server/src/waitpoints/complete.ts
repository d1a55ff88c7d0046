import type { TokenCompletion } from '@millrace/contract';
import { userBehind, type Principal } from '../auth/principal.ts';
import { jsonOfField } from '../json/levels.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { storableText } from '../runs/values/storable.ts';

export interface CompleteDependencies {
  readonly engine: Engine;
  /** Runs of this environment may continue. */
  readonly resume: (env: number) => void;
}

/**
 * Completes a token, so that the runs waiting for it continue. Only the first completion counts; one that arrives later, or after the token
 * has timed out, changes nothing. False if the token does not exist.
 */
export async function completeToken(
  { engine: { sql, clock }, resume }: CompleteDependencies,
  env: number,
  id: string,
  data: unknown,
  by: TokenCompletion,
  field = 'data',
): Promise<boolean> {
  const text = data === undefined ? null : storableText(jsonOfField(data, field));
  const [row] = await sql<{ status: string | null }[]>`
    select complete_token(
      ${new Date(clock.now())}, ${env}, ${id}, ${text}, ${'application/json'}, ${JSON.stringify(by)}) as status`;
  if (row?.status === 'WAITING') resume(env);
  return typeof row?.status === 'string';
}

/** Who completes a token with this credential. */
export function completionBy(principal: Principal): TokenCompletion {
  const user = userBehind(principal);
  if (user !== null) return { type: 'user', id: user };
  if ('attempt' in principal && principal.attempt) return { type: 'run', id: principal.attempt.run };
  return principal.kind === 'publicToken'
    ? { type: 'publicToken' }
    : { type: 'secretKey', id: principal.credentialId };
}
