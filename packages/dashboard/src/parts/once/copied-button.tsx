import { Button } from '../button.tsx';

/** Closes a text that is shown only once. */
export const CopiedButton = ({ onClose }: { readonly onClose: () => void }) => (
  <div className="form-actions">
    <Button variant="main" onClick={onClose}>
      I have copied it
    </Button>
  </div>
);
