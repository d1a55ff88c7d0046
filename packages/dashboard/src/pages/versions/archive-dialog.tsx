import type { Deployment } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import { useAct } from '../../api/ask.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { outdated } from './outdated.ts';

interface ArchiveDialogProps {
  readonly version: Deployment;
  readonly onClose: () => void;
}

/** Frees the files of a version. It cannot be undone, so its name must be typed. */
export function ArchiveDialog({ version, onClose }: ArchiveDialogProps) {
  const archive = useAct('archiveDeployment', {
    invalidates: outdated,
    showsErrors: true,
    done: ({ version: archived }) => `${archived} archived`,
    onDone: onClose,
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Archive ${version.version}?`}
      action={`Archive ${version.version}`}
      typed={version.version}
      isBusy={archive.isPending}
      error={archive.error?.message}
      onConfirm={() => archive.mutate({ params: { version: version.version } })}
    >
      Its files ({readableSize(version.bytes)}) are deleted. It can no longer be promoted; to restore its
      code, deploy it again. Its runs are kept.
    </Confirm>
  );
}
