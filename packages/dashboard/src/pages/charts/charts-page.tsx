import type { Chart } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ChartCard } from '../../parts/charts/chart-card.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { useShortcuts } from '../../parts/keyboard.ts';
import { Page } from '../../parts/page.tsx';
import { ChartForm } from './chart-form.tsx';

/** The saved charts of the environment. */
export function ChartsPage() {
  const params = useEnvironmentPath();
  const mayWrite = useMay()('createChart');
  const [isAdding, setAdding] = useState(false);
  const charts = useAsk('listCharts', { params }, { live: 60_000 });
  useShortcuts(mayWrite ? [{ keys: 'n', label: 'Add a chart', run: () => setAdding(true) }] : []);
  const all = charts.data?.data ?? [];
  return (
    <Page
      title="Charts"
      actions={
        mayWrite && (
          <Button icon="plus" variant="main" shortcut="n" onClick={() => setAdding(true)}>
            Add chart
          </Button>
        )
      }
    >
      {charts.error && !charts.data ? (
        <Failure error={charts.error} onRetry={() => void charts.refetch()} />
      ) : charts.data && all.length === 0 ? (
        <Empty title="No charts yet.">
          A chart answers a question about runs, such as the failure rate by version. Pinned charts are on the
          overview.
        </Empty>
      ) : (
        <div className="chart-cards">
          {all.map((chart) => (
            <ChartCard
              key={chart.id}
              name={chart.name}
              chart={chart}
              actions={mayWrite && <Acts chart={chart} />}
            />
          ))}
        </div>
      )}
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)} title="Add a chart">
        <ChartForm onClose={() => setAdding(false)} />
      </Dialog>
    </Page>
  );
}

function Acts({ chart }: { readonly chart: Chart }) {
  const params = { ...useEnvironmentPath(), chartId: chart.id };
  const [dialog, setDialog] = useState<'change' | 'delete'>();
  const close = (): void => setDialog(undefined);
  const invalidates = ['listCharts'] as const;
  const update = useAct('updateChart', { invalidates });
  const remove = useAct('deleteChart', { invalidates, showsErrors: true, done: 'Chart deleted' });
  return (
    <>
      <Button
        isBusy={update.isPending}
        onClick={() => update.mutate({ params, body: { isPinned: !chart.isPinned } })}
      >
        {chart.isPinned ? 'Unpin' : 'Pin'}
      </Button>
      <Button icon="pencil" onClick={() => setDialog('change')}>
        Change
      </Button>
      <Button icon="trash" variant="danger" onClick={() => setDialog('delete')}>
        Delete
      </Button>
      <Dialog isOpen={dialog === 'change'} onClose={close} title="Change the chart">
        <ChartForm chart={chart} onClose={close} />
      </Dialog>
      <Confirm
        isOpen={dialog === 'delete'}
        onClose={() => {
          remove.reset();
          close();
        }}
        title={`Delete the chart ${visibleControls(chart.name)}?`}
        action="Delete the chart"
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate({ params })}
      >
        It is deleted for everybody in the project.
      </Confirm>
    </>
  );
}
