import { codecEndpoint, type Opened } from '../api/sealed.ts';
import { Button } from './button.tsx';

/** Notes that something is sealed, or by whom it was opened. Renders nothing if nothing is sealed. */
export function SealedNote({ opened: { state, key, error, retry } }: { readonly opened: Opened<unknown> }) {
  if (state === undefined) return null;
  const host = codecEndpoint === undefined ? '' : new URL(codecEndpoint).host;
  if (state === 'opened')
    return (
      <p className="muted small" role="status">
        Sealed with key {key}; opened by {host} for this page only.
      </p>
    );
  if (state === 'opening')
    return (
      <p className="muted small" role="status">
        Sealed with key {key}. Asking {host} …
      </p>
    );
  if (codecEndpoint === undefined)
    return (
      <p className="muted small" role="status">
        Sealed with key {key}. This server has no codec endpoint configured to open it
        (MILLRACE_CODEC_ENDPOINT).
      </p>
    );
  return (
    <div className="row wrap small" role="status">
      <span>
        Sealed with key {key}. {host} did not open it: {error?.message}
      </span>
      <Button variant="plain" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}
