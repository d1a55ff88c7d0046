import { Popover as Base } from '@base-ui/react/popover';
import { useState, type ReactElement, type ReactNode } from 'react';
import { focusBelow, useTakenFocus } from './focus.ts';
import './menu.css';

export interface PopoverProps {
  readonly trigger: ReactElement<Record<string, unknown>>;
  /** Its name for screen readers. */
  readonly label: string;
  readonly align?: 'start' | 'end';
  readonly className?: string;
  /** Created when it opens. */
  readonly content: (close: () => void) => ReactNode;
}

/** The loaded part of `Popover`. */
export default function PopoverLoaded({
  trigger,
  label,
  align = 'end',
  className = 'menu',
  content,
  startsOpen,
}: PopoverProps & { readonly startsOpen: boolean }) {
  const [isOpen, setOpen] = useState(startsOpen);
  return (
    <Base.Root open={isOpen} onOpenChange={setOpen}>
      <Base.Trigger ref={useTakenFocus(startsOpen)} render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align={align} className="menu-place">
          <Base.Popup className={className} aria-label={label} finalFocus={focusBelow}>
            {content(() => setOpen(false))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
