import { useQueryClient } from '@tanstack/react-query';
import { useAsk } from '../../api/ask.ts';
import type { OperationName, ReplyOf } from '../../api/operation-types.ts';
import { useFollow } from '../../api/use-follow.ts';

export type RunDetail = ReplyOf<'retrieveRun'>;

const ofRun: ReadonlySet<OperationName> = new Set([
  'retrieveRun',
  'retrieveRunTimeline',
  'retrieveRunReason',
  'listRunAttempts',
]);

/** A run, requested again whenever the server reports a change, until it has ended. */
export function useRun(runId: string) {
  const client = useQueryClient();
  const run = useAsk('retrieveRun', { params: { runId } }, { keepPrevious: false });
  useFollow(
    'followRun',
    { params: { runId } },
    { enabled: run.data !== undefined && !run.data.isCompleted },
    () => {
      void client.invalidateQueries({
        predicate: ({ queryKey: [name, , input] }) =>
          ofRun.has(name as OperationName) &&
          (input as { params?: { runId?: string } } | undefined)?.params?.runId === runId,
      });
    },
  );
  return run;
}
