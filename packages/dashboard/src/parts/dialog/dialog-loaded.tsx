import { Dialog as Base } from '@base-ui/react/dialog';
import { useRef, type ReactNode } from 'react';
import { IconButton } from '../button.tsx';
import { focusBelow } from '../focus.ts';
import './dialog.css';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** The loaded part of `Dialog`. The first field gets the focus. */
function DialogLoaded({ isOpen, onClose, title, isWide = false, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          ref={popup}
          className={`dialog ${isWide ? 'wide' : ''}`}
          finalFocus={focusBelow}
          initialFocus={() => popup.current?.querySelector<HTMLElement>('input, select, textarea') ?? true}
        >
          <div className="row spread">
            <Base.Title className="dialog-title">{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" />} />
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export default DialogLoaded;
