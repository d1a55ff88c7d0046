import { Dialog as Base } from '@base-ui/react/dialog';
import { useEffect, useRef, type ReactNode } from 'react';
import { IconButton } from '../button.tsx';
import { focusInPage } from '../focus.ts';
import { useShortcuts } from '../keyboard.ts';
import '../dialog/dialog.css';
import './side-panel.css';

export interface SidePanelProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Identifies the object, if the title does not. */
  readonly subject?: string | undefined;
  /** Next to the close button, such as a link to the whole page. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The loaded part of `SidePanel`. It takes the focus, which returns to the row when it is closed. */
const SidePanelLoaded = ({ isOpen, onClose, title, subject = title, actions, children }: SidePanelProps) => {
  const popup = useRef<HTMLDivElement>(null);
  useShortcuts(isOpen ? [{ keys: 'Escape', label: 'Close the panel', run: onClose }] : []);
  // Another row was opened while it was shown.
  useEffect(() => {
    if (isOpen) popup.current?.focus({ preventScroll: true });
  }, [isOpen, subject]);
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open) => !open && onClose()}
      modal={false}
      disablePointerDismissal
    >
      <Base.Portal>
        <Base.Popup ref={popup} className="panel" initialFocus={popup} finalFocus={focusInPage}>
          <header className="panel-head">
            <Base.Title className="panel-title cut">{title}</Base.Title>
            <div className="row">
              {actions}
              <Base.Close render={<IconButton icon="close" label="Close" />} />
            </div>
          </header>
          <div className="panel-body">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
};

export default SidePanelLoaded;
