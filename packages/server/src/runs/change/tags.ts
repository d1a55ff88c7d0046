import { redactKeys } from '../../envvars/redact/key-shapes.ts';
import { unprocessable } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { facet } from '../facets/facet.ts';
import { recordFacets } from '../facets/record.ts';
import { holdAttempt } from '../dispatch/hold-attempt.ts';

const maxTags = 10;

/**
 * Adds tags to a run. Returns how many of them are new. With more than ten tags in total it adds none and throws 422. If `fence` belongs to an
 * ended attempt of the run, it throws 409.
 */
export async function addTags(
  { sql, clock, changes }: Engine,
  env: number,
  run: string,
  tags: readonly string[],
  fence?: number,
): Promise<number> {
  const added = await sql.begin(async (tx) => {
    if (fence !== undefined) await holdAttempt(tx, env, run, fence, 'its tags are');
    const [row] = await tx<{ tags: string[] | null }[]>`
      select tags from runs where env = ${env} and id = ${run} for no key update`;
    const had = row?.tags ?? [];
    const clean = tags.map((tag) => redactKeys(tag.trim())).filter((tag) => tag !== '');
    const fresh = [...new Set(clean)].filter((tag) => !had.includes(tag));
    if (!row || fresh.length === 0) return [];
    if (had.length + fresh.length > maxTags) {
      throw unprocessable(
        `A run has at most ${maxTags} tags; this one has ${had.length} and would get ${fresh.length} more.`,
        'limit_reached',
      );
    }
    await tx`
      update runs set tags = ${[...had, ...fresh]}::text[], updated_at = ${new Date(clock.now())}
       where env = ${env} and id = ${run}`;
    await recordFacets(
      tx,
      env,
      fresh.map((tag) => ({ id: run, facet: facet('tag', tag) })),
    );
    return fresh;
  });
  changes.tagged(env, run, added);
  changes.changed(env, [run]);
  return added.length;
}
