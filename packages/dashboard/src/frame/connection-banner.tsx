import { useEffect } from 'react';
import { queryClient } from '../api/ask.ts';
import { call } from '../api/client.ts';
import { useConnection } from '../api/connection.ts';
import { Icon } from '../parts/icons.tsx';

const firstDelayMs = 1_000;
const maxDelayMs = 15_000;

/**
 * Shows that the server cannot be reached and checks when it is back. The contents of the page and typed text are kept; every request is
 * then repeated.
 */
export function ConnectionBanner() {
  const state = useConnection();
  useEffect(() => {
    if (state !== 'lost') return undefined;
    let delay = firstDelayMs;
    let timer: ReturnType<typeof setTimeout>;
    const probe = async (): Promise<void> => {
      // A hidden page sends no requests.
      if (!document.hidden) {
        try {
          await call('retrieveCurrentBrowserSession', {});
          await queryClient.invalidateQueries();
          return;
        } catch {
          delay = Math.min(maxDelayMs, delay * 1.5);
        }
      }
      timer = setTimeout(() => void probe(), delay * (0.75 + Math.random() / 2));
    };
    timer = setTimeout(() => void probe(), delay);
    return () => clearTimeout(timer);
  }, [state]);

  if (state === 'ok') return null;
  if (state === 'lost')
    return (
      <div className="banner tone-warn" role="status">
        <Icon name="errors" />
        <span>
          The server cannot be reached. The data shown is out of date and updates once the connection is back.
        </span>
      </div>
    );
  return (
    <div className="banner tone-warn" role="alert">
      <Icon name="person" />
      <span>
        Your session has ended.{' '}
        <a href={location.href} target="_blank" rel="noopener">
          Log in in another tab
        </a>{' '}
        and come back: your input is kept.
      </span>
    </div>
  );
}
