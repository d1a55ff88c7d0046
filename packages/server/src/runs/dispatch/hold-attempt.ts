import type { Transaction } from '../../db/connect.ts';
import { Problem } from '../../problem.ts';

/**
 * Rejects (409) the actions of an attempt after its end. A live attempt remains live until the transaction ends, because a rescue of the
 * run waits for that.
 */
export async function holdAttempt(
  tx: Transaction,
  env: number,
  run: string,
  fence: number,
  refused: string,
): Promise<void> {
  const [leased] = await tx`
    select from lock_parents(${[env]}::int[], ${[run]}::text[], ${[fence]}::bigint[]) h where h.refused is null`;
  if (!leased) throw new Problem('attempt_ended', `This attempt has ended; ${refused} rejected.`);
}
