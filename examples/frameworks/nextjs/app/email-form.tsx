'use client';

import { useActionState } from 'react';
import { useRealtimeRun } from '@millrace/react';
import { sendEmail } from './actions.ts';

/** The server triggers, in a server action. This page follows the run with the token of its handle. */
export function EmailForm() {
  const [sent, action, isPending] = useActionState(sendEmail, undefined);
  const { run, error } = useRealtimeRun(sent?.handle);
  return (
    <form action={action}>
      <input name="to" aria-label="To" />
      <input name="subject" aria-label="Subject" />
      <button disabled={isPending}>Send</button>
      <output>
        {sent?.error ?? error?.message ?? run?.status} {run?.output?.messageId}
      </output>
    </form>
  );
}
