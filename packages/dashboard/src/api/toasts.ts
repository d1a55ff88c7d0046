import { Toast } from '@base-ui/react/toast';

/** Shown by the frame. */
export const toastManager = Toast.createToastManager();

interface ToastOptions {
  readonly title: string;
  readonly description?: string;
  readonly kind?: 'done' | 'error';
  /** What takes it back. The toast stays longer, with a button. */
  readonly undo?: () => void;
  /** Another button, such as "Open the run". */
  readonly action?: { readonly label: string; readonly onClick: () => void };
}

/**
 * Tells what was done, or that it failed.
 *
 * @example
 * toast({ title: 'Queue mail paused', undo: () => pause.mutate({ …, body: { action: 'resume' } }) });
 */
export function toast({ title, description, kind = 'done', undo, action }: ToastOptions): void {
  const button = undo ? { label: 'Undo', onClick: undo } : action;
  const id = toastManager.add({
    title,
    ...(description !== undefined && { description }),
    type: kind,
    timeout: button || kind === 'error' ? 12_000 : 5_000,
    priority: kind === 'error' ? 'high' : 'low',
    ...(button && {
      actionProps: {
        children: button.label,
        onClick: () => {
          toastManager.close(id);
          button.onClick();
        },
      },
    }),
  });
}
