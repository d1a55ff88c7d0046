import { useGoTo } from '../parts/page-link.tsx';
import { useShortcuts } from '../parts/keyboard.ts';
import { Backdrop } from '../parts/dialog/backdrop.tsx';
import { lazyDialog } from '../parts/lazy-popup.tsx';
import { frameLinks } from './links.ts';
import { closePalette, openPalette, useIsPaletteOpen } from './palette-state.ts';

const PaletteDialog = lazyDialog<{ readonly isOpen: boolean }>(
  () =>
    import('./palette-dialog.tsx').catch((error: unknown) => {
      closePalette();
      throw error;
    }),
  <Backdrop />,
);

/** Navigates to pages, tasks, and any pasted id. `/` and ⌘K open it. */
export function Palette() {
  const isOpen = useIsPaletteOpen();
  const goTo = useGoTo();
  useShortcuts(
    [
      { keys: '/', label: 'Search, or go to an id', run: openPalette },
      { keys: 'Mod+k', label: 'Search, or go to an id', run: openPalette, whileTyping: true },
      ...frameLinks.map(({ to, label, key }) => ({
        keys: key,
        label: `Go to ${label}`,
        run: () => goTo(to),
      })),
    ],
    { isEverywhere: true },
  );
  return <PaletteDialog isOpen={isOpen} />;
}
