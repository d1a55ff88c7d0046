import { useEffect, useState } from 'react';
import { dismissToast, useToasts, type Toast } from '../../api/toasts.ts';
import { Button, IconButton } from '../button.tsx';
import { useShortcuts } from '../keyboard.ts';
import './toasts.css';

/** Shows the messages of `toast()`. The region is always rendered, so that screen readers announce new contents. */
export function Toasts() {
  const toasts = useToasts();
  const [isHeld, setHeld] = useState(false);
  const latest = toasts.findLast(({ action }) => action !== undefined);
  useShortcuts(
    latest?.action
      ? [{ keys: 'u', does: `${latest.action.label} (${latest.title})`, run: () => press(latest) }]
      : [],
  );
  return (
    <section
      className="toasts"
      aria-label="Messages"
      aria-live="polite"
      aria-relevant="additions"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {toasts.map((one) => (
        <Message key={one.id} toast={one} isHeld={isHeld} />
      ))}
    </section>
  );
}

function press({ id, action }: Toast): void {
  dismissToast(id);
  action?.onClick();
}

/** It stays while the pointer or the focus is on any message. */
function Message({ toast, isHeld }: { readonly toast: Toast; readonly isHeld: boolean }) {
  const { id, title, description, kind, action, stayMs } = toast;
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => dismissToast(id), stayMs);
    return () => clearTimeout(timer);
  }, [id, isHeld, stayMs]);
  return (
    <div
      className={`toast ${kind === 'error' ? 'is-error' : ''}`}
      role={kind === 'error' ? 'alert' : undefined}
    >
      <div className="toast-text">
        <p className="toast-title">{title}</p>
        {description !== undefined && <p className="muted">{description}</p>}
      </div>
      {action && (
        <Button shortcut="u" onClick={() => press(toast)}>
          {action.label}
        </Button>
      )}
      <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(id)} />
    </div>
  );
}
