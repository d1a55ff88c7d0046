import { Button } from '../button.tsx';

/** Closes what shows a text once. */
export const CopiedButton = ({ onClose }: { readonly onClose: () => void }) => (
  <div className="form-actions">
    <Button look="main" onClick={onClose}>
      I have copied it
    </Button>
  </div>
);
