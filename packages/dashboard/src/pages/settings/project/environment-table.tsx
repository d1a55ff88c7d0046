import type { Role } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../../api/ask.ts';
import { allows, environmentNames } from '../../../api/session.ts';
import { toast } from '../../../api/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Failure, Skeleton } from '../../../parts/failure.tsx';
import { Mark } from '../../../parts/status/status.tsx';
import { PauseEnvironment } from './pause-environment.tsx';
import { RotateSigningKey } from './rotate-signing-key.tsx';
import '../../../parts/plot/plot.css';

type Kind = keyof typeof environmentNames;

interface OpenDialog {
  readonly what: 'pause' | 'rotate';
  readonly env: Kind;
}

/** The operations to refresh after an environment was paused or resumed. */
const outdated = [
  'listEnvironments',
  'retrieveConcurrency',
  'retrieveRunReason',
  'retrieveCurrentBrowserSession',
] as const;

/** The four environments: whether runs start in them, and the keys that sign their public tokens. */
export function EnvironmentTable({ projectRef, role }: { readonly projectRef: string; readonly role: Role }) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const environments = useAsk(
    'listEnvironments',
    { params: { projectRef } },
    { inEnvironment: false, live: 15_000 },
  );
  const resume = useAct('resumeEnvironment', {
    inEnvironment: false,
    invalidates: outdated,
    onDone: (_, { params }) => toast({ title: `${nameOf(params.env)} resumed: its runs start again` }),
  });
  if (environments.error && !environments.data)
    return <Failure error={environments.error} onRetry={() => void environments.refetch()} />;
  if (!environments.data) return <Skeleton lines={4} label="Loading environments" />;
  const own = environments.data.filter(({ branchName }) => branchName === null);
  return (
    <div className="card settings-environments-box" tabIndex={0} role="region" aria-label="Environments">
      <table className="plain-table settings-environments">
        <thead>
          <tr>
            <th scope="col">Environment</th>
            <th scope="col">State</th>
            <th scope="col">
              <span className="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {own.map(({ id, slug, paused }) => {
            const env = slug as Kind;
            const isDev = env === 'dev';
            return (
              <tr key={id}>
                <th scope="row">
                  {nameOf(env)}
                  {isDev && <span className="muted small"> your own</span>}
                </th>
                <td>
                  {paused ? (
                    <Mark badge={{ word: 'Paused: no run starts', glyph: 'slashed', tone: 'warn' }} />
                  ) : (
                    <Mark badge={{ word: 'Runs start', glyph: 'disc', tone: 'good' }} />
                  )}
                </td>
                <td>
                  <div className="row wrap settings-acts">
                    {allows(role, 'pauseEnvironment', isDev) &&
                      (paused ? (
                        <Button
                          icon="play"
                          isBusy={resume.isPending}
                          aria-label={`Resume ${nameOf(env)}`}
                          onClick={() => resume.mutate({ params: { projectRef, env } })}
                        >
                          Resume
                        </Button>
                      ) : (
                        <Button
                          icon="pause"
                          aria-label={`Pause ${nameOf(env)}`}
                          onClick={() => setDialog({ what: 'pause', env })}
                        >
                          Pause
                        </Button>
                      ))}
                    {allows(role, 'rotateSigningKey', isDev) && (
                      <Button
                        aria-label={`Rotate the signing key of ${nameOf(env)}`}
                        onClick={() => setDialog({ what: 'rotate', env })}
                      >
                        Rotate the signing key
                      </Button>
                    )}
                  </div>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {dialog?.what === 'pause' && (
        <PauseEnvironment
          params={{ projectRef, env: dialog.env }}
          name={nameOf(dialog.env)}
          invalidates={outdated}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog?.what === 'rotate' && (
        <RotateSigningKey
          params={{ projectRef, env: dialog.env }}
          name={nameOf(dialog.env)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  );
}

const nameOf = (env: string): string => environmentNames[env as Kind] ?? env;
