import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { toast } from '../../../api/toasts.ts';
import type { ErrorDetail } from '../error-detail.ts';

/** The texts of the form; an empty one removes the value. */
export interface HandOver {
  readonly owner: string;
  readonly note: string;
  readonly ticketUrl: string;
}

/** The stored values. The owner of the task is not an assignment. */
export const storedValues = ({ ownership }: Pick<ErrorDetail, 'ownership'>): HandOver => ({
  owner: ownership.source === 'task' ? '' : (ownership.owner ?? ownership.userId ?? ''),
  note: ownership.note ?? '',
  ticketUrl: ownership.ticketUrl ?? '',
});

interface HandOverState {
  /** The values that are being stored; the page shows them without waiting. */
  readonly saving: HandOver | undefined;
  /** Stores the values that differ. Returns the failure, if there was one. */
  readonly save: (values: HandOver) => Promise<unknown>;
}

/** Assigns an error group, and sets its note and its ticket. */
export function useHandOver(group: ErrorDetail): HandOverState {
  const client = useQueryClient();
  const [saving, setSaving] = useState<HandOver>();
  const options = { showsErrors: true, invalidates: [] } as const;
  const assign = useAct('assignError', options);
  const note = useAct('noteError', options);
  const link = useAct('linkError', options);

  const save = async (values: HandOver): Promise<unknown> => {
    const stored = storedValues(group);
    const params = { errorId: group.id };
    const orNull = (text: string): string | null => (text === '' ? null : text);
    setSaving(values);
    try {
      if (values.owner !== stored.owner)
        await assign.mutateAsync({ params, body: { assignee: orNull(values.owner) } });
      if (values.note !== stored.note)
        await note.mutateAsync({ params, body: { note: orNull(values.note) } });
      if (values.ticketUrl !== stored.ticketUrl)
        await link.mutateAsync({ params, body: { ticketUrl: orNull(values.ticketUrl) } });
      toast({ title: 'Error handed over' });
      return undefined;
    } catch (failure) {
      return failure;
    } finally {
      // The stored values replace the shown ones only once they have arrived.
      await client.invalidateQueries();
      setSaving(undefined);
    }
  };
  return { saving, save };
}
