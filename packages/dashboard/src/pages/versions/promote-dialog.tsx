import type { Deployment } from '@millrace/contract';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useAct } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import { environmentNames } from '../../api/session.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { countText } from '../../parts/count-text.ts';
import { CheckField } from '../../parts/form/field.tsx';
import { outdated } from './outdated.ts';
import { isBefore } from './state-badge.ts';

interface PromoteDialogProps {
  readonly version: Deployment;
  readonly current: Deployment | undefined;
  /** The canary, which any promotion ends. */
  readonly canary: Deployment | undefined;
  readonly onClose: () => void;
}

/** Makes a version current, or rolls back to one. It shows the effect on started runs, and unmet requirements. */
export function PromoteDialog({ version, current, canary, onClose }: PromoteDialogProps) {
  const [force, setForce] = useState(false);
  const { kind } = useEnvironment();
  const isBack = isBefore(version, current);
  const promote = useAct('promoteDeployment', {
    invalidates: outdated,
    showsErrors: true,
    done: (reply) =>
      reply.replaced === null
        ? `${reply.version} is current`
        : `${reply.version} is current instead of ${reply.replaced}`,
    onDone: onClose,
  });
  const verb = isBack ? 'Roll back to' : 'Promote';
  const isUnloaded = version.runners === 0;
  const needsConfirmation = promote.error instanceof ApiError && promote.error.code === 'version_not_loaded';
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`${verb} ${version.version}?`}
      action={`${verb} ${version.version}`}
      isHarmless={!isBack}
      isBusy={promote.isPending}
      error={promote.error?.message}
      onConfirm={() =>
        promote.mutate({ params: { version: version.version }, query: { allowRollbacks: isBack, force } })
      }
    >
      <div className="stack">
        <p>
          New runs in {environmentNames[kind as keyof typeof environmentNames] ?? kind} start on{' '}
          <code>{version.version}</code>
          {current ? (
            <>
              {' '}
              instead of <code>{current.version}</code>. {whatStays(current)}
            </>
          ) : (
            '.'
          )}{' '}
          Declared schedules and queue limits switch to those of the version at the same time.
        </p>
        {canary && canary.id !== version.id && <p>This ends the canary {canary.version}.</p>}
        {(isUnloaded || needsConfirmation) && (
          <>
            <p className="notice tone-warn">
              <span>
                No connected runner has loaded this version.{' '}
                {version.isUploaded ? 'Compatible runners are requested to load it.' : ''}
              </span>
            </p>
            <CheckField
              label="Promote anyway"
              hint="New runs wait until a runner has loaded it."
              checked={force}
              onChange={(event) => setForce(event.target.checked)}
            />
          </>
        )}
      </div>
    </Confirm>
  );
}

const whatStays = ({ version, liveRuns }: Deployment): string =>
  liveRuns === 0
    ? ''
    : `${countText(liveRuns, 'run')} that ${liveRuns === 1 ? 'has' : 'have'} started ${liveRuns === 1 ? 'stays' : 'stay'} on ${version}.`;
