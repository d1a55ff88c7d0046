import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { IconButton } from '../button.tsx';
import '../dialog/dialog.css';
import './side-panel.css';

export interface SidePanelProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Beside the close button, such as a link to the whole page. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The loaded part of `SidePanel`. */
const SidePanelLoaded = ({ isOpen, onClose, title, actions, children }: SidePanelProps) => (
  <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()} modal={false} disablePointerDismissal>
    <Base.Portal>
      <Base.Popup className="panel" initialFocus={false} finalFocus={false}>
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

export default SidePanelLoaded;
