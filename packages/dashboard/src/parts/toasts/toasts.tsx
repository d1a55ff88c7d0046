import { Toast } from '@base-ui/react/toast';
import { toastManager } from '../../api/toasts.ts';
import { IconButton } from '../button.tsx';
import './toasts.css';

/** Shows what `toast()` says. The frame has it. F6 leads to it. */
export const Toasts = () => (
  <Toast.Provider toastManager={toastManager} limit={4}>
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
);

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((one) => (
    <Toast.Root key={one.id} toast={one} className={`toast ${one.type === 'error' ? 'is-error' : ''}`}>
      <Toast.Content className="toast-content">
        <div className="toast-text">
          <Toast.Title className="toast-title" render={<p />} />
          <Toast.Description className="muted" />
        </div>
        <Toast.Action className="button" />
        <Toast.Close render={<IconButton icon="close" label="Dismiss" />} />
      </Toast.Content>
    </Toast.Root>
  ));
}
