import { useQuery } from '@tanstack/react-query';
import { baseUrl, send } from '../../api/client.ts';
import { Empty } from '../empty.tsx';
import { Failure, Skeleton } from '../failure.tsx';
import { useOpened } from '../../api/sealed.ts';
import { SealedNote } from '../sealed-note.tsx';
import { JsonTree, TextBlock } from '../json/json-tree.tsx';

interface RunDataProps {
  /** "Payload". */
  readonly label: string;
  readonly value: unknown;
  /** The address of the value, if it is stored separately because of its size. */
  readonly url?: string | undefined;
  /** Shown if there is no value. */
  readonly none: string;
}

/** A payload or an output. Large ones are fetched when they are opened. */
export function RunData({ label, value, url, none }: RunDataProps) {
  if (url !== undefined) return <StoredData label={label} url={url} />;
  if (value === undefined) return <Empty title={none} />;
  return <Data label={label} value={value} />;
}

/** A value in plain JSON; sealed parts are opened if possible. */
export function Data({ label, value }: { readonly label: string; readonly value: unknown }) {
  const opened = useOpened(value);
  return (
    <>
      <SealedNote opened={opened} />
      {typeof opened.value === 'string' ? (
        <TextBlock label={label} text={opened.value} />
      ) : (
        // A new tree when it is opened, because the state of the old one does not apply.
        <JsonTree key={opened.state} label={label} value={opened.value} />
      )}
    </>
  );
}

function StoredData({ label, url }: { readonly label: string; readonly url: string }) {
  const address = new URL(url, baseUrl);
  const isOwn = address.origin === new URL(baseUrl).origin;
  const stored = useQuery({
    // The address is signed for each request; the content stays the same.
    queryKey: ['packet', address.pathname],
    enabled: isOwn,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const response = await send(address.href, { signal });
      const text = await response.text();
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
    },
  });
  if (!isOwn)
    return (
      <Empty
        title={`The ${label.toLowerCase()} is stored separately because of its size.`}
        action={
          <a className="button" href={url} target="_blank" rel="noopener">
            Open in a new tab
          </a>
        }
      />
    );
  if (stored.error) return <Failure error={stored.error} onRetry={() => void stored.refetch()} />;
  if (stored.isPending) return <Skeleton lines={6} label={`Loading ${label}`} />;
  return <Data label={label} value={stored.data} />;
}
