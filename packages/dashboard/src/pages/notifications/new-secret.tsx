import { Dialog } from '../../parts/dialog/dialog.tsx';
import { CopiedButton } from '../../parts/once/copied-button.tsx';
import { ShownOnce } from '../../parts/once/shown-once.tsx';

/** The secret that signs the requests of a webhook, shown once. */
export const NewSecret = ({
  secret,
  onClose,
}: {
  readonly secret: string | undefined;
  readonly onClose: () => void;
}) => (
  <Dialog isOpen={secret !== undefined} onClose={onClose} title="The webhook’s secret">
    {secret !== undefined && (
      <ShownOnce label="Signing secret" text={secret}>
        Receivers use it to verify the signature of every request, for example with the Standard Webhooks
        library.
      </ShownOnce>
    )}
    <CopiedButton onClose={onClose} />
  </Dialog>
);
