import { lazyDialog } from '../lazy-popup.tsx';
import type { SidePanelProps } from './side-panel-loaded.tsx';

/**
 * What a row of a list is about, beside the list, which keeps its place and can still be used. Keep in the address what is open. The focus goes
 * into it; Escape closes it.
 */
export const SidePanel = lazyDialog<SidePanelProps>(() => import('./side-panel-loaded.tsx'));
