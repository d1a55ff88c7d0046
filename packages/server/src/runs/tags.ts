import { redactKeys } from '../envvars/redact/key-shapes.ts';
import { unprocessable } from '../problem.ts';
import type { Engine } from './engine.ts';
import { holdAttempt } from './dispatch/hold-attempt.ts';

const maxTags = 10;

/**
 * Adds tags to a run; how many of them it did not have yet. More than ten in all are refused with 422, and none is added; so are, with 409,
 * those of an attempt of the run (`fence`) that is over.
 */
export function addTags(
  { sql, clock }: Engine,
  env: number,
  run: string,
  tags: readonly string[],
  fence?: number,
): Promise<number> {
  return sql.begin(async (tx) => {
    if (fence !== undefined) await holdAttempt(tx, env, run, fence, 'its tags are');
    const [row] = await tx<{ tags: string[] | null }[]>`
      select tags from runs where env = ${env} and id = ${run} for no key update`;
    const had = row?.tags ?? [];
    const clean = tags.map((tag) => redactKeys(tag.trim())).filter((tag) => tag !== '');
    const added = [...new Set(clean)].filter((tag) => !had.includes(tag));
    if (!row || added.length === 0) return 0;
    if (had.length + added.length > maxTags) {
      throw unprocessable(
        `A run has at most ${maxTags} tags; this one has ${had.length} and would get ${added.length} more.`,
      );
    }
    await tx`
      update runs set tags = ${[...had, ...added]}::text[], updated_at = ${new Date(clock.now())}
       where env = ${env} and id = ${run}`;
    await tx`
      select note_facets(${added.map(() => env)}::int[], ${added.map((tag) => `g:${tag}`)}::text[],
                         ${added.map(() => run)}::text[])`;
    return added.length;
  });
}
