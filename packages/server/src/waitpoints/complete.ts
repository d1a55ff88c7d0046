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
  field = 'data',
): Promise<boolean> {
  const text = data === undefined ? null : storableText(jsonOfField(data, field));
  const [row] = await sql<{ status: string | null }[]>`
    select complete_waitpoint(${new Date(clock.now())}, ${env}, ${id}, ${text}, ${'application/json'}) as status`;
  if (row?.status === 'WAITING') resume(env);
  return typeof row?.status === 'string';
}
