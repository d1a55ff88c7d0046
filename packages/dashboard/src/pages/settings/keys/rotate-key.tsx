import type { SecretKey } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { useEnvironmentPath } from '../../../api/environment.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { SelectField } from '../../../parts/form/field.tsx';
import { FormError } from '../../../parts/form/form-error.tsx';
import { NewKey } from './key-dialog.tsx';

const overlaps = [
  { value: '1h', label: 'One hour' },
  { value: '24h', label: 'One day' },
  { value: '7d', label: 'Seven days' },
  { value: '0s', label: 'None: the old key ends now' },
];

/** Creates a replacement for a key. Both are valid until the overlap has ended. */
export function RotateKey({
  secretKey,
  onClose,
}: {
  readonly secretKey: SecretKey;
  readonly onClose: () => void;
}) {
  const params = useEnvironmentPath();
  const [overlap, setOverlap] = useState('24h');
  const rotate = useAct('rotateKey', { invalidates: ['listKeys'], showsErrors: true });
  return (
    <Dialog isOpen onClose={onClose} title={`Rotate the key ${secretKey.name}`}>
      {rotate.data ? (
        <NewKey name={rotate.data.name} text={rotate.data.key} onClose={onClose} />
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            rotate.mutate({ params: { ...params, keyId: secretKey.id }, body: { overlap } });
          }}
        >
          <p className="muted">
            Creates a new key with the same permissions. Replace the old key before it ends.
          </p>
          <SelectField
            label="Both keys are valid for"
            value={overlap}
            options={overlaps}
            onChange={(event) => setOverlap(event.target.value)}
          />
          <FormError error={rotate.error} />
          <div className="form-actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="main" isBusy={rotate.isPending}>
              Create the new key
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
