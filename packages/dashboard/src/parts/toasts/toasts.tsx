import { useEffect, useState } from 'react';
import { dismissToast, useToasts, type Toast } from '../../api/toasts.ts';
import { Button, IconButton } from '../button.tsx';
import { useShortcuts } from '../keyboard.ts';
import './toasts.css';

/** Shows the messages of `toast()`. The region is always rendered, so that screen readers announce new contents. */
export function Toasts() {
  const toasts = useToasts();
  const [isPaused, setPaused] = useState(false);
  const latest = toasts.findLast(({ action }) => action !== undefined);
  useShortcuts(
    latest?.action
      ? [{ keys: 'u', label: `${latest.action.label} (${latest.title})`, run: () => press(latest) }]
      : [],
  );
  return (
    <section
      className="toasts"
      aria-label="Messages"
      aria-live="polite"
      aria-relevant="additions"
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      {toasts.map((toast) => (
        <Message key={toast.id} toast={toast} isPaused={isPaused} />
      ))}
    </section>
  );
}

function press({ id, action }: Toast): void {
  dismissToast(id);
  action?.onClick();
}

/** It remains while the pointer or the focus is on any message. */
function Message({ toast, isPaused }: { readonly toast: Toast; readonly isPaused: boolean }) {
  const { id, title, description, kind, action, stayMs } = toast;
  useEffect(() => {
    if (isPaused) return undefined;
    const timer = setTimeout(() => dismissToast(id), stayMs);
    return () => clearTimeout(timer);
  }, [id, isPaused, stayMs]);
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
