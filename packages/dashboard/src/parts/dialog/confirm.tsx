import { lazyDialog } from '../lazy-popup.tsx';
import { Backdrop } from './backdrop.tsx';
import type { ConfirmProps } from './confirm-loaded.tsx';

/** Asks before a destructive action. The focus is on "Go back", so that pressing Enter is safe. */
export const Confirm = lazyDialog<ConfirmProps>(() => import('./confirm-loaded.tsx'), <Backdrop />);
