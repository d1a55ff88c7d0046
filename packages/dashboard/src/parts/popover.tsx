import { lazyPopup } from './lazy-popup.tsx';
import type { PopoverProps } from './popover-loaded.tsx';

/** Content next to a button, such as a choice or a code block. Escape and a click elsewhere close it. */
export const Popover = lazyPopup<PopoverProps>(() => import('./popover-loaded.tsx'));
