import { useEffect, useState } from 'react';
import { MillraceClient, type RunHandle, type WatchedRun } from '@millrace/sdk';

/** The current state of the run, updated after each change until it ends. */
export function useRun<TOutput>(baseURL: string, handle: RunHandle<string, TOutput> | undefined) {
  const [run, setRun] = useState<WatchedRun<TOutput>>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    if (!handle) return undefined;
    const stop = new AbortController();
    const client = new MillraceClient({ baseURL, accessToken: handle.publicAccessToken });
    const follow = async () => {
      for await (const seen of client.runs.subscribeToRun(handle, { signal: stop.signal })) setRun(seen);
    };
    follow().catch(setError);
    return () => stop.abort();
  }, [baseURL, handle]);
  return { run, error };
}
