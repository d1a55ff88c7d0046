import type { RunnerInfo } from '@millrace/contract';
import { useState, type ReactNode } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { toast } from '../../api/toasts.ts';
import { IconButton } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { Menu } from '../../parts/menu.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import type { Badge } from '../../parts/status/run-status.ts';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';

const keyOf = ({ id }: RunnerInfo): string => id;

/** Runner processes. One is drained before its machine is shut down. */
export function RunnersTab() {
  const [{ runner: chosen }, setSearch] = useSearchTexts();
  const { kind } = useEnvironment();
  const may = useMay();
  const [stopping, setStopping] = useState<RunnerInfo>();
  const runners = useAsk('listRunners', {}, { live: true });
  const drain = useAct('drainRunner', {
    invalidates: ['listRunners'],
    onDone: ({ id, host, draining }) =>
      toast({
        title: draining ? `${host} receives no more attempts` : `${host} receives attempts again`,
        ...(draining && {
          undo: () => drain.mutate({ params: { runnerId: id }, body: { draining: false } }),
        }),
      }),
  });
  const stop = useAct('stopRunner', {
    invalidates: ['listRunners'],
    showsErrors: true,
    done: ({ host }) => `Stop signal sent to ${host}`,
    onDone: () => setStopping(undefined),
  });
  if (runners.error && !runners.data)
    return <Failure error={runners.error} onRetry={() => void runners.refetch()} />;
  const all = runners.data?.data ?? [];
  return (
    <div className="edge">
      <Table
        label="Runners"
        columns={runnerColumns(
          may('drainRunner')
            ? (runner) => (
                <Menu
                  trigger={<IconButton icon="more" label={`Actions for ${runner.host}`} />}
                  entries={[
                    {
                      label: runner.draining ? 'Resume attempts' : 'Drain: no more attempts',
                      onSelect: () =>
                        drain.mutate({
                          params: { runnerId: runner.id },
                          body: { draining: !runner.draining },
                        }),
                    },
                    { label: 'Stop', isDangerous: true, onSelect: () => setStopping(runner) },
                  ]}
                />
              )
            : undefined,
        )}
        rows={all}
        rowKey={keyOf}
        openKey={chosen}
        onOpen={({ id }) => setSearch({ runner: id === chosen ? undefined : id })}
        isPending={runners.isPending}
        empty={
          <Empty
            title="No runner is connected."
            command={kind === 'dev' ? 'npx millrace dev' : `npx millrace work --env ${kind}`}
          >
            Runs wait until one is.{' '}
            {kind === 'dev'
              ? 'In the folder of your project.'
              : 'It fetches deployed versions and needs no project folder.'}
          </Empty>
        }
      />
      <Confirm
        isOpen={stopping !== undefined}
        onClose={() => {
          setStopping(undefined);
          stop.reset();
        }}
        title={`Stop the runner on ${stopping?.host ?? ''}?`}
        action="Stop the runner"
        isBusy={stop.isPending}
        error={stop.error?.message}
        onConfirm={() => stopping && stop.mutate({ params: { runnerId: stopping.id } })}
      >
        It finishes as many as possible of {countText(stopping?.running ?? 0, 'attempt')} and returns the rest
        to the queue. Process {stopping?.pid ?? ''} then exits; start it again on its machine.
      </Confirm>
    </div>
  );
}

const connected: Badge = { word: 'Connected', glyph: 'disc', tone: 'good' };
const draining: Badge = { word: 'Draining', glyph: 'quarter', tone: 'waiting' };

const runnerColumns = (
  acts: ((runner: RunnerInfo) => ReactNode) | undefined,
): readonly Column<RunnerInfo>[] => [
  {
    id: 'host',
    header: 'Host',
    width: 'minmax(120px, 2fr)',
    isEssential: true,
    cell: ({ host, pid }) => (
      <span className="cut">
        {host} <span className="muted number">{pid}</span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: '112px',
    cell: (runner) => <Mark badge={runner.draining ? draining : connected} />,
  },
  {
    id: 'slots',
    header: 'Slots in use',
    width: '140px',
    isEssential: true,
    cell: ({ running, slots }) => (
      <span className="slots">
        <meter min={0} max={Math.max(1, slots)} value={Math.min(running, slots)} aria-label="Slots in use" />
        <span className="number">
          {running} / {slots}
        </span>
      </span>
    ),
  },
  {
    id: 'versions',
    header: 'Versions loaded',
    width: 'minmax(120px, 2fr)',
    cell: ({ versions }) => (
      <span className="mono cut" data-tip={versions.length > 2 ? versions.join('\n') : undefined}>
        {versions.length === 0 ? 'none yet' : versions.slice(-2).toReversed().join(', ')}
        {versions.length > 2 && ` and ${versions.length - 2} more`}
      </span>
    ),
  },
  {
    id: 'platform',
    header: 'Platform',
    width: 'minmax(110px, 1fr)',
    cell: ({ platform, nodeMajor, labels }) => (
      <span className="cut" data-tip={labels.length > 0 ? labels.join(', ') : undefined}>
        {platform ?? 'unknown'}
        {nodeMajor !== null && `, Node ${nodeMajor}`}
      </span>
    ),
  },
  { id: 'since', header: 'Connected', width: '88px', cell: ({ connectedAt }) => <Time at={connectedAt} /> },
  {
    id: 'beat',
    header: 'Last seen',
    width: '88px',
    cell: ({ lastHeartbeatAt }) => <Time at={lastHeartbeatAt} />,
  },
  { id: 'id', header: 'Id', width: '152px', cell: ({ id }) => <Id id={id} short /> },
  ...(acts
    ? [{ id: 'acts', header: '', width: '44px', align: 'end' as const, isEssential: true, cell: acts }]
    : []),
];
