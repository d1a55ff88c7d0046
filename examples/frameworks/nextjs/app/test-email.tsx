'use client';

import { useRealtimeTaskTrigger } from '@millrace/react';
import type * as tasks from '../../tasks/index.ts';

/** The browser triggers the task directly, with a token for one run of it. */
export function TestEmail({ token }: { token: string }) {
  const { submit, isLoading, handle, run, error } = useRealtimeTaskTrigger<typeof tasks.sendEmail>(
    'send-email',
    {
      accessToken: token,
    },
  );
  return (
    <p>
      <button
        disabled={isLoading || handle !== undefined}
        onClick={() => submit({ to: 'ada@example.com', subject: 'A test' })}
      >
        Send a test
      </button>
      <output>
        {error?.message ?? run?.status} {run?.output?.messageId}
      </output>
    </p>
  );
}
