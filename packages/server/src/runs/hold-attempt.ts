import type { Transaction } from '../db/connect.ts';
import { Problem } from '../problem.ts';

/**
 * Refuses (409) what an attempt does that is over. The lease of one that is not, or what is kept of it while it waits, stays until the
 * transaction ends: whoever takes the run over waits for that.
 */
export async function holdAttempt(
  tx: Transaction,
  env: number,
  run: string,
  fence: number,
  refused: string,
): Promise<void> {
  // It may go from one to the other meanwhile, and back.
  for (const table of [tx`leases`, tx`suspended`, tx`leases`]) {
    const held = await tx`
      select from ${table} where env = ${env} and run_id = ${run} and fence = ${fence} for key share`;
    if (held.length > 0) return;
  }
  throw new Problem(409, `This attempt is over: ${refused} refused.`);
}
