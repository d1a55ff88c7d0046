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
  { value: '0s', label: 'Not at all: they end now' },
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
          Public tokens, which frontends have, are signed with a new key from now on. Those that were signed
          before end with the time below, even if they would be good for longer. Secret keys and personal
          access tokens stay.
        </p>
        <SelectField
          label="For how long older public tokens are good"
          value={overlap}
          options={overlaps}
          onChange={(event) => setOverlap(event.target.value)}
          {...(endsNow && {
            hint: 'Frontends that follow runs now are refused until they have got a new token.',
          })}
        />
        <FormError error={rotate.error} />
        <div className="form-actions">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" variant="main" className={endsNow ? 'danger' : ''} isBusy={rotate.isPending}>
            {endsNow ? 'Rotate, and end all older tokens now' : 'Rotate the signing key'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
