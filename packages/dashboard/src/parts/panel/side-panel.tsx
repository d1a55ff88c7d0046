import { lazyDialog } from '../lazy-popup.tsx';
import type { SidePanelProps } from './side-panel-loaded.tsx';

/**
 * The object of a list row, next to the list, which keeps its position and can still be used. The open row should be in the address. It takes
 * the focus; Escape closes it.
 */
export const SidePanel = lazyDialog<SidePanelProps>(() => import('./side-panel-loaded.tsx'));
