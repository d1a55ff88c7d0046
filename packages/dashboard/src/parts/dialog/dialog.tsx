import { lazyDialog } from '../lazy-popup.tsx';
import { Backdrop } from './backdrop.tsx';
import type { DialogProps } from './dialog-loaded.tsx';

/** A form or a choice over the page. Escape closes it; the focus returns to its earlier position. */
export const Dialog = lazyDialog<DialogProps>(() => import('./dialog-loaded.tsx'), <Backdrop />);
