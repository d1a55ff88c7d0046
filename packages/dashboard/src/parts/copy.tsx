import { useEffect, useState } from 'react';
import { Icon } from './icons.tsx';
import { useRowTabIndex } from './button.tsx';

/** Copies a text to the clipboard. False if the browser does not allow it (a page over http that is not on loopback). */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    // Deprecated, but the only way without TLS.
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}

/** A button that copies. `what` names it: "Copy id". */
export function CopyButton({
  text,
  what = 'Copy',
}: {
  readonly text: string | (() => string);
  readonly what?: string;
}) {
  const [state, setState] = useState<'done' | 'failed'>();
  useEffect(() => {
    if (!state) return undefined;
    const timer = setTimeout(() => setState(undefined), 1_500);
    return () => clearTimeout(timer);
  }, [state]);
  const tabIndex = useRowTabIndex();
  const tip = state === 'done' ? 'Copied' : state === 'failed' ? 'The browser blocked the copy' : what;
  return (
    <button
      type="button"
      tabIndex={tabIndex}
      className="icon-button copy-button"
      aria-label={what}
      data-tip={tip}
      onClick={async (event) => {
        event.stopPropagation();
        setState((await copyText(typeof text === 'string' ? text : text())) ? 'done' : 'failed');
      }}
    >
      <Icon name={state === 'done' ? 'check' : 'copy'} size={14} />
      <span className="hidden-text" role="status">
        {state === 'done' ? 'Copied' : ''}
      </span>
    </button>
  );
}
