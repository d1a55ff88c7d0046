import { lazyPopup } from './lazy-popup.tsx';
import type { MenuProps } from './menu-loaded.tsx';

export type { MenuEntry } from './menu-loaded.tsx';

/**
 * Further actions and choices. Arrows and letters move through them.
 *
 * @example
 * <Menu
 *   trigger={<IconButton icon="more" label="More" />}
 *   entries={[
 *     { label: 'Reset the limit', onSelect: reset },
 *     { kind: 'line' },
 *     { kind: 'radio', label: 'Newest first', isChosen: true, onSelect: sort },
 *   ]}
 * />
 */
export const Menu = lazyPopup<MenuProps>(() => import('./menu-loaded.tsx'));
