import { z } from 'zod';
import { compared, type Part, type Step } from '../part.ts';
import { errorGroups, groupIdsOf } from './error-groups.ts';

const record = z.object({
  task: z.string().min(1).max(128),
  /** The first is that of the group into which the others were merged. */
  fingerprints: z.array(z.string().min(1)).min(2),
  errorType: z.string(),
  errorMessage: z.string(),
});
type MergeRecord = z.infer<typeof record>;

/** Merged error groups. The groups are created with their first occurrences. */
export const errorMerges: Part<MergeRecord> = {
  kind: 'error-merge',
  record,
  on: 'errors',
  async *read({ client }) {
    for await (const { taskIdentifier, fingerprints, errorType, errorMessage } of errorGroups(client, {}))
      if (fingerprints.length > 1)
        yield { task: taskIdentifier, fingerprints: [...fingerprints], errorType, errorMessage };
  },
  async plan(records, { client }) {
    const idOf = await groupIdsOf(
      client,
      records.map(({ task }) => task),
    );
    return records.map(({ task, fingerprints, errorType, errorMessage }): Step => {
      const kind = 'error-merge';
      const found = fingerprints.map((fingerprint) => idOf(task, fingerprint));
      const [first, ...errors] = new Set(found.filter((id) => id !== undefined));
      const missing = found.filter((id) => id === undefined).length;
      const name = `${task}: ${errorType}: ${errorMessage} and ${fingerprints.length - 1} more`;
      const note = missing === 0 ? undefined : `${missing} of them have not occurred here yet`;
      if (first === undefined || (errors.length === 0 && missing > 0))
        return { kind, name, action: 'left-out', note };
      const is = errors.length === 0 ? 'same' : 'missing';
      const step = compared({ kind, name, is, override: false }, async () => {
        await client.call('mergeErrors', { params: { errorId: first }, body: { errors } });
        return undefined;
      });
      return { ...step, note };
    });
  },
};
