'use client';

import { useState } from 'react';
import { MillraceClient, type RunHandle, type TaskOutput } from '@millrace/sdk';
import type * as tasks from '../../tasks/index.ts';
import { useRun } from './use-run.ts';

/** The browser triggers the task directly, with a token for one run of it. */
export function TestEmail({ baseURL, token }: { baseURL: string; token: string }) {
  const [handle, setHandle] = useState<RunHandle<'send-email', TaskOutput<typeof tasks.sendEmail>>>();
  const { run, error } = useRun(baseURL, handle);
  const send = async () => {
    const client = new MillraceClient<typeof tasks>({ baseURL, accessToken: token });
    setHandle(await client.tasks.trigger('send-email', { to: 'ada@example.com', subject: 'A test' }));
  };
  return (
    <p>
      <button disabled={handle !== undefined} onClick={send}>
        Send a test
      </button>
      <output>
        {error?.message ?? run?.status} {run?.output?.messageId}
      </output>
    </p>
  );
}
