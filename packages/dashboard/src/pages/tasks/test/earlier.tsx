import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAsk, keyOf } from '../../../api/ask.ts';
import { messageOf } from '../../../api/api-error.ts';
import { call } from '../../../api/client.ts';
import { useEnvironment } from '../../../api/environment.ts';
import { toast } from '../../../api/toasts.ts';
import { shortId } from '../../../parts/id-text.ts';
import { Status } from '../../../parts/status/status.tsx';
import { Time } from '../../../parts/time/time.tsx';

interface EarlierProps {
  readonly taskId: string;
  readonly onChoose: (payload: unknown) => void;
}

/** Payloads of the latest runs, for reuse. */
export function Earlier({ taskId, onChoose }: EarlierProps) {
  const environment = useEnvironment();
  const client = useQueryClient();
  const [taken, setTaken] = useState<string>();
  const runs = useAsk('listRuns', {
    query: { 'filter[taskIdentifier]': taskId, 'filter[createdAt][period]': '30d', 'page[size]': 12 },
  });
  const take = async (runId: string): Promise<void> => {
    const input = { params: { runId } };
    try {
      const run = await client.ensureQueryData({
        queryKey: keyOf(environment, 'retrieveRun', input),
        queryFn: ({ signal }) => call('retrieveRun', input, { environment, signal }),
      });
      if (run.payloadPresignedUrl !== undefined)
        return toast({
          title: 'This payload is too large to edit here.',
          description: 'Replay the run from its page: the replay uses it unchanged.',
          kind: 'error',
        });
      setTaken(runId);
      onChoose(run.payload);
    } catch (error) {
      toast({ title: messageOf(error), kind: 'error' });
    }
  };
  const found = runs.data?.data ?? [];
  if (found.length === 0) return null;
  return (
    <details className="card earlier" open>
      <summary>Earlier payloads</summary>
      <ul>
        {found.map(({ id, status, createdAt, isTest }) => (
          <li key={id}>
            <button
              type="button"
              className="earlier-item"
              aria-pressed={taken === id}
              onClick={() => void take(id)}
            >
              <Status status={status} compact />
              <code className="cut">{shortId(id)}</code>
              <span className="muted small">
                <Time at={createdAt} />
                {isTest && ', test'}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
