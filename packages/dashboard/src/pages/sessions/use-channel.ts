import { useState } from 'react';
import { useFollow } from '../../api/use-follow.ts';
import type { ChannelRecord } from './conversation.ts';

/** Maximum number of records in the page. */
const maxRecords = 20_000;

interface Channel {
  readonly records: readonly ChannelRecord[];
  /** Whether all records that existed at the start have been read. */
  readonly isLoaded: boolean;
  readonly error: unknown;
}

/** Follows one channel of a session from its beginning. A reopened stream adds no duplicates. */
export function useChannel(
  operation: 'subscribeToSessionIn' | 'subscribeToSessionOut',
  session: string,
  /** The stream is complete: the session is closed or has expired. */
  isEnded: boolean,
): Channel {
  const [records, setRecords] = useState<readonly ChannelRecord[]>([]);
  const [isLoaded, setLoaded] = useState(false);
  const [isDone, setDone] = useState(false);
  const { error } = useFollow(
    operation,
    { params: { session } },
    { enabled: !(isDone && isEnded) },
    ({ event, data }) => {
      if (event === 'batch') {
        const batch = (JSON.parse(data) as { readonly records: readonly ChannelRecord[] }).records;
        setRecords((before) => {
          const last = before.at(-1)?.seq_num ?? -1;
          const fresh = batch.filter(({ seq_num: seq }) => seq > last);
          return fresh.length === 0 ? before : [...before, ...fresh].slice(-maxRecords);
        });
      }
      if (data === '[DONE]') setDone(true);
      setLoaded(true);
    },
  );
  return { records, isLoaded, error };
}
