import { lazyPopup } from './lazy-popup.tsx';
import type { PopoverProps } from './popover-loaded.tsx';

/** Something beside a button, such as a choice or a piece of code. Escape and a click elsewhere close it. */
export const Popover = lazyPopup<PopoverProps>(() => import('./popover-loaded.tsx'));
