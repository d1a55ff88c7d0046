import { useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { SelectField } from '../../../parts/form/field.tsx';
import { FormError } from '../../../parts/form/form-error.tsx';

const overlaps = [
  { value: '1h', label: 'One hour' },
  { value: '24h', label: 'One day' },
  { value: '7d', label: 'Seven days' },
  { value: '30d', label: 'Thirty days' },
  { value: '0s', label: 'None: they end now' },
];

interface RotateSigningKeyProps {
  readonly params: { readonly projectRef: string; readonly env: string };
  readonly name: string;
  readonly onClose: () => void;
}

/** Rotates the key that signs public tokens. */
export function RotateSigningKey({ params, name, onClose }: RotateSigningKeyProps) {
  const [overlap, setOverlap] = useState('24h');
  const rotate = useAct('rotateSigningKey', {
    inEnvironment: false,
    showsErrors: true,
    invalidates: [],
    done: `Signing key of ${name} rotated`,
    onDone: onClose,
  });
  const endsNow = overlap === '0s';
  return (
    <Dialog isOpen onClose={onClose} title={`Rotate the signing key of ${name}`}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate({ params, body: { overlap } });
        }}
      >
        <p className="muted">
          New public tokens for frontends are signed with a new key. Older ones end after the time below, even
          if they expire later. Secret keys and personal access tokens are not affected.
        </p>
        <SelectField
          label="Older public tokens are valid for"
          value={overlap}
          options={overlaps}
          onChange={(event) => setOverlap(event.target.value)}
          {...(endsNow && {
            hint: 'Frontends that are following runs are rejected until they have a new token.',
          })}
        />
        <FormError error={rotate.error} />
        <div className="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="main" className={endsNow ? 'danger' : ''} isBusy={rotate.isPending}>
            {endsNow ? 'Rotate, and end all older tokens now' : 'Rotate the signing key'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
