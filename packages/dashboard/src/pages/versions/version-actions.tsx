import type { Deployment } from '@millrace/contract';
import { useState } from 'react';
import { useMay } from '../../api/session.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Menu } from '../../parts/menu.tsx';
import { useGoTo } from '../../parts/page-link.tsx';
import { ArchiveDialog } from './archive-dialog.tsx';
import { AbortCanaryDialog, CanaryDialog } from './canary-dialog.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { PromoteDialog } from './promote-dialog.tsx';
import { isBefore, isPromotable } from './state-badge.ts';

interface VersionEntry {
  readonly label: string;
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Whether it is the main action on a version's page. */
  readonly isMain?: boolean;
}

const variantOf = ({ isMain = false, isDangerous = false }: VersionEntry) =>
  isMain || isDangerous ? { variant: isMain ? ('main' as const) : ('danger' as const) } : {};

export type Act = 'promote' | 'canary' | 'abort' | 'move' | 'archive';

interface Around {
  readonly current: Deployment | undefined;
  readonly canary: Deployment | undefined;
}

/** The actions on a version, with their confirmation dialogs. Users who may only read can compare it. */
export function useVersionActs({ current, canary }: Around) {
  const may = useMay();
  const goTo = useGoTo();
  const [open, setOpen] = useState<{ readonly act: Act; readonly version: Deployment }>();
  const close = (): void => setOpen(undefined);
  const start = (act: Act, version: Deployment): void => setOpen({ act, version });

  const entriesOf = (deployment: Deployment): readonly VersionEntry[] => {
    const entry = (act: Act, label: string, rest: Partial<VersionEntry> = {}): VersionEntry => ({
      label,
      onSelect: () => start(act, deployment),
      ...rest,
    });
    const isCanary = deployment.canaryPercent !== null;
    const isLoadable = isPromotable(deployment);
    return [
      ...(isLoadable && may('promoteDeployment')
        ? [
            entry('promote', isBefore(deployment, current) ? 'Roll back to this version' : 'Promote', {
              isMain: true,
            }),
          ]
        : []),
      {
        label: isCanary ? 'Compare with the current version' : 'Compare with the version before',
        onSelect: () => goTo(`/versions/${encodeURIComponent(deployment.version)}/compare`),
      },
      ...(isLoadable && current && may('promoteDeployment')
        ? [entry('canary', isCanary ? 'Change the canary’s share' : 'Start as a canary')]
        : []),
      ...(isCanary && may('abortCanary') ? [entry('abort', 'End the canary')] : []),
      ...(deployment.state !== 'uploading' && may('moveDeployment') ? [entry('move', 'Move its runs')] : []),
      ...(isLoadable && !isCanary && may('archiveDeployment')
        ? [entry('archive', 'Archive', { isDangerous: true, isDisabled: deployment.liveRuns > 0 })]
        : []),
    ];
  };

  const dialog = open && (
    <ActDialog key={open.version.id} {...open} current={current} canary={canary} onClose={close} />
  );
  return { start, entriesOf, dialog };
}

const dialogs = {
  promote: PromoteDialog,
  canary: CanaryDialog,
  abort: AbortCanaryDialog,
  move: MoveDialog,
  archive: ArchiveDialog,
};

const ActDialog = ({
  act,
  ...props
}: Around & { readonly act: Act; readonly version: Deployment; readonly onClose: () => void }) => {
  const Dialog = dialogs[act];
  return <Dialog {...props} />;
};

/** For a row of the list. */
export const RowActs = ({
  version,
  entries,
}: {
  readonly version: string;
  readonly entries: readonly VersionEntry[];
}) =>
  entries.length === 0 ? null : (
    <Menu trigger={<IconButton icon="more" label={`Actions for ${version}`} />} entries={entries} />
  );

/** For the page of a version: the first is a separate button. */
export function PageActs({ entries }: { readonly entries: readonly VersionEntry[] }) {
  const [first, ...others] = entries;
  if (!first) return null;
  return (
    <>
      <Button {...variantOf(first)} disabled={first.isDisabled === true} onClick={first.onSelect}>
        {first.label}
      </Button>
      {others.length > 0 && (
        <Menu trigger={<IconButton icon="more" label="More actions" />} entries={others} />
      )}
    </>
  );
}
