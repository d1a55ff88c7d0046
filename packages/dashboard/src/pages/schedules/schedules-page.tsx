import type { Schedule } from '@millrace/contract';
import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { Pager } from '../../parts/pager.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import type { Column } from '../../parts/table/column.ts';
import { ColumnMenu } from '../../parts/table/column-menu.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useColumns } from '../../parts/table/use-columns.ts';
import { Duration, Time } from '../../parts/time/time.tsx';
import { badgeOfSchedule, missedText, overlapTexts } from './badges.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { useHasTask, type HasTask } from './scheduled-tasks.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import './schedules.css';

const perPage = 100;
const none = <span className="muted">–</span>;

const columnsOf = (hasTask: HasTask): readonly Column<Schedule>[] => [
  {
    id: 'status',
    header: 'Status',
    width: '124px',
    isFixed: true,
    cell: (schedule) => <Mark badge={badgeOfSchedule(schedule, hasTask(schedule))} />,
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(84px, 1.2fr)',
    isFixed: true,
    isEssential: true,
    cell: ({ id, task, active, externalId, deduplicationKey }) => (
      <>
        <PageLink to={`/schedules/${id}`} className="cut schedule-task">
          {visibleControls(task)}
        </PageLink>
        {!hasTask({ task, active }) && (
          <span className="tone-warn small schedule-note">not in the current version</span>
        )}
        <span className="muted small cut schedule-note">
          {visibleControls(externalId ?? deduplicationKey ?? '')}
        </span>
      </>
    ),
  },
  {
    id: 'when',
    header: 'When',
    width: 'minmax(84px, 1.6fr)',
    isEssential: true,
    cell: ({ generator }) => (
      <>
        <code className="schedule-cron">{generator.expression}</code>
        <span className="muted small cut schedule-note">{generator.description}</span>
      </>
    ),
  },
  {
    id: 'zone',
    header: 'Zone',
    width: 'minmax(80px, 150px)',
    cell: ({ timezone }) => <span className="cut">{timezone}</span>,
  },
  {
    id: 'next',
    header: 'Next',
    width: '96px',
    isEssential: true,
    cell: ({ nextRunEffectiveAt }) => (nextRunEffectiveAt === null ? none : <Time at={nextRunEffectiveAt} />),
  },
  {
    id: 'lag',
    header: 'Started late',
    width: '100px',
    align: 'end',
    cell: ({ lag }) =>
      lag === undefined ? (
        none
      ) : (
        <span className={lag.lastMs > 60_000 ? 'tone-warn' : ''}>
          <Duration ms={lag.lastMs} />
        </span>
      ),
  },
  {
    id: 'made',
    header: 'Source',
    width: '96px',
    cell: ({ type }) => <span className="muted">{type === 'DECLARATIVE' ? 'Code' : 'API'}</span>,
  },
  {
    id: 'overlap',
    header: 'Overlap',
    width: 'minmax(110px, 180px)',
    startsHidden: true,
    cell: ({ overlap }) => <span className="cut">{overlapTexts[overlap]}</span>,
  },
  {
    id: 'missed',
    header: 'Missed',
    width: 'minmax(110px, 160px)',
    startsHidden: true,
    cell: ({ missed }) => <span className="cut">{missedText(missed)}</span>,
  },
];

export function SchedulesPage() {
  const [{ page = '1', form }, setSearch] = useSearchTexts();
  const may = useMay();
  const pageHref = usePageHref();
  const goTo = useGoTo();
  const schedules = useAsk('listSchedules', { query: { page, perPage } }, { live: true });
  const columns = columnsOf(useHasTask());
  const { visible, toggle, reset } = useColumns('schedules', columns);
  const found = schedules.data;
  const isNew = form === 'new' && may('createSchedule');
  return (
    <Page
      title="Schedules"
      summary={<span className="number">{found && countText(found.pagination.count, 'schedule')}</span>}
      actions={
        <>
          {found && found.pagination.count > perPage && <OpenByKey />}
          <ColumnMenu columns={columns} visible={visible} onToggle={toggle} onReset={reset} />
          <CodeExample
            operation="listSchedules"
            input={{ query: { page, perPage } }}
            cli="schedules list"
            sdk={
              "import { schedules } from '@millrace/sdk';\n\nfor await (const schedule of schedules.list()) {\n  console.log(schedule.task, schedule.nextRun);\n}"
            }
          />
          {may('createSchedule') && (
            <Button variant="main" icon="plus" onClick={() => setSearch({ form: 'new' }, { push: true })}>
              New schedule
            </Button>
          )}
        </>
      }
    >
      {schedules.error && !found ? (
        <Failure error={schedules.error} onRetry={() => void schedules.refetch()} />
      ) : (
        <div className="edge">
          <Table
            label="Schedules"
            columns={visible}
            rows={found?.data ?? []}
            rowKey={({ id }) => id}
            hrefOf={({ id }) => pageHref(`/schedules/${id}`)}
            onOpen={({ id }) => goTo(`/schedules/${id}`)}
            isPending={schedules.isPending}
            empty={
              <Empty title="No schedules yet." command="npx millrace dev">
                A schedule exists once a deployed task declares a <code>cron</code>, or once one is created
                through the API:
                <pre className="schedule-example">{example}</pre>
              </Empty>
            }
          />
        </div>
      )}
      {found && (
        <Pager
          page={Number(page)}
          pages={found.pagination.totalPages}
          previous="Newer"
          next="Older"
          onPage={(next) => setSearch({ page: next === 1 ? undefined : String(next) }, { push: true })}
        />
      )}
      {isNew && (
        <ScheduleForm
          onClose={() => setSearch({ form: undefined })}
          onDone={({ id }) => goTo(`/schedules/${id}`)}
        />
      )}
    </Page>
  );
}

const example = `export const report = schedules.task({
  id: 'report',
  cron: { pattern: '0 9 * * mon-fri', timezone: 'Europe/Paris' },
  run: async ({ timestamp }) => {},
});`;

/** The API finds one schedule by its id or key; it has no search. */
function OpenByKey() {
  const [text, setText] = useState('');
  const goTo = useGoTo();
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') goTo(`/schedules/${encodeURIComponent(text.trim())}`);
      }}
    >
      <input
        className="input"
        aria-label="Open by id or deduplication key"
        placeholder="Id or deduplication key"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">Open</Button>
    </form>
  );
}
