import type { SecretKey } from '@millrace/contract';
import { useAct } from '../../../api/ask.ts';
import { useEnvironmentPath } from '../../../api/environment.ts';
import { Confirm } from '../../../parts/dialog/confirm.tsx';
import { Time } from '../../../parts/time/time.tsx';

/** Revokes a key. Its name must be typed first, because its users stop working. */
export function RevokeKey({
  secretKey,
  onClose,
}: {
  readonly secretKey: SecretKey;
  readonly onClose: () => void;
}) {
  const params = useEnvironmentPath();
  const { id, name, lastUsedAt } = secretKey;
  const revoke = useAct('revokeKey', {
    invalidates: ['listKeys'],
    showsErrors: true,
    done: (revoked) => `Key ${revoked.name} revoked`,
    onDone: onClose,
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Revoke the key ${name}?`}
      action={`Revoke ${name}`}
      typed={name}
      isBusy={revoke.isPending}
      error={revoke.error?.message}
      onConfirm={() => revoke.mutate({ params: { ...params, keyId: id } })}
    >
      Takes effect immediately and cannot be undone. Tokens created with the key end too. Programs and runners
      that use it are rejected.{' '}
      {lastUsedAt === undefined ? (
        'It was never used.'
      ) : (
        <>
          It was used last <Time at={lastUsedAt} />.
        </>
      )}
    </Confirm>
  );
}
