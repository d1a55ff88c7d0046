import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useEnvironment } from '../../api/environment.ts';
import { messageOf } from '../../api/api-error.ts';
import { toast } from '../../api/toasts.ts';
import { countText } from '../../parts/count-text.ts';

type Change = 'resolveError' | 'ignoreError' | 'unresolveError';

/** Changes several groups in sequence and reports the number of failures. */
export function useEach(): {
  readonly done: number | undefined;
  readonly change: (name: Change, ids: readonly string[], message: string, undo?: Change) => Promise<void>;
} {
  const environment = useEnvironment();
  const client = useQueryClient();
  const [done, setDone] = useState<number>();

  const change = async (
    name: Change,
    ids: readonly string[],
    message: string,
    undo?: Change,
  ): Promise<void> => {
    const changed: string[] = [];
    let failure: unknown;
    setDone(0);
    for (const errorId of ids) {
      const input = { params: { errorId }, ...(name !== 'unresolveError' && { body: {} }) };
      try {
        await call(name, input as never, { environment, requestKey: crypto.randomUUID() });
        changed.push(errorId);
      } catch (error) {
        failure ??= error;
      }
      setDone(changed.length);
    }
    setDone(undefined);
    void client.invalidateQueries();
    const left = ids.length - changed.length;
    if (changed.length > 0)
      toast({
        title: `${message} ${countText(changed.length, 'error')}`,
        ...(undo && { undo: () => void change(undo, changed, 'Unresolved again:') }),
      });
    if (left > 0)
      toast({ title: `${countText(left, 'error')} stayed: ${messageOf(failure)}`, kind: 'error' });
  };
  return { done, change };
}
