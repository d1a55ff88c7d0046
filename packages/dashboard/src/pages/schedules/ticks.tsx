import type { Schedule, ScheduleTick } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { Empty } from '../../parts/empty.tsx';
import { shortId } from '../../parts/id-text.ts';
import { Section } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { GlyphMark } from '../../parts/status/glyph.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { exactText } from '../../parts/time/format.ts';
import { Time } from '../../parts/time/time.tsx';
import { badgeOfTick, reasonTexts } from './badges.ts';

const outcomes = [
  { value: 'all', label: 'All' },
  { value: 'fired', label: 'Fired' },
  { value: 'skipped', label: 'Skipped' },
] as const;

/** To the second: ticks have no fractions. */
export const tickText = (at: string, zone: string): string =>
  exactText(Date.parse(at), zone).replace(/\.\d{3}/, '');

const keyOf = (tick: ScheduleTick): string =>
  tick.outcome === 'fired' ? tick.runId : `${tick.reason} ${tick.nominalAt}`;

const columnsIn = (zone: string): readonly Column<ScheduleTick>[] => [
  {
    id: 'status',
    header: 'Outcome',
    width: 'minmax(44px, 140px)',
    isEssential: true,
    cell: (tick) => <Mark badge={badgeOfTick(tick)} />,
  },
  {
    id: 'tick',
    header: 'Tick',
    width: 'minmax(120px, 1.4fr)',
    isEssential: true,
    cell: (tick) => (
      <span className="number cut">
        {tickText(tick.nominalAt, zone)}
        {tick.outcome === 'skipped' &&
          tick.untilAt !== tick.nominalAt &&
          ` to ${tickText(tick.untilAt, zone)}`}
      </span>
    ),
  },
  {
    id: 'when',
    header: 'Recorded',
    width: '96px',
    cell: (tick) => <Time at={tick.outcome === 'fired' ? tick.firedAt : tick.recordedAt} />,
  },
  {
    id: 'run',
    header: 'Run or reason',
    width: 'minmax(90px, 2fr)',
    isEssential: true,
    cell: (tick) =>
      tick.outcome === 'skipped' ? (
        <span className="cut" title={reasonTexts[tick.reason]}>
          {reasonTexts[tick.reason]}
        </span>
      ) : (
        <>
          <PageLink to={`/runs/${tick.runId}`} className="mono">
            {shortId(tick.runId)}
          </PageLink>
          {tick.backfilled && <span className="muted small schedule-note">backfilled</span>}
        </>
      ),
  },
  {
    id: 'late',
    header: 'Late',
    width: '80px',
    align: 'end',
    cell: (tick) =>
      tick.outcome === 'skipped' || tick.backfilled ? (
        <span className="muted">–</span>
      ) : (
        readableDuration(Date.parse(tick.firedAt) - Date.parse(tick.dueAt))
      ),
  },
];

interface TicksProps {
  readonly schedule: Schedule;
  readonly zone: string;
}

/** The results of the ticks of the last 30 days. */
export function Ticks({ schedule, zone }: TicksProps) {
  const [{ outcome = 'all' }, setSearch] = useSearchTexts();
  const goTo = useGoTo();
  const pageHref = usePageHref();
  const filter = outcome === 'fired' || outcome === 'skipped' ? outcome : undefined;
  const input = {
    params: { scheduleId: schedule.id },
    query: { 'page[size]': 100, ...(filter && { 'filter[outcome]': filter }) },
  };
  const list = useLiveList('listScheduleTicks', input, keyOf);
  const { rows } = list;
  return (
    <Section
      title="Ticks of the last 30 days"
      actions={
        <Segments
          label="Outcome"
          options={outcomes}
          value={filter ?? 'all'}
          onChange={(next) => setSearch({ outcome: next === 'all' ? undefined : next })}
        />
      }
    >
      {filter === undefined && rows.length > 1 && <TickStrip ticks={rows.slice(0, 60)} zone={zone} />}
      <LiveTable
        list={list}
        noun="tick"
        label="Ticks"
        columns={columnsIn(zone)}
        rowKey={keyOf}
        hrefOf={(tick) => pageHref(tick.outcome === 'fired' ? `/runs/${tick.runId}` : '/schedules')}
        onOpen={(tick) => tick.outcome === 'fired' && goTo(`/runs/${tick.runId}`)}
        empty={
          <Empty
            title={filter === undefined ? 'No tick was due yet.' : `No tick was ${filter}.`}
            command={`npx millrace schedules backfill ${schedule.id} --from 2026-01-01 --to 2026-01-02`}
          >
            The first one appears after the next tick. To run past ticks, use a backfill.
          </Empty>
        }
      />
    </Section>
  );
}

/** An overview of the newest ticks, oldest first. For screen readers, the table has the same data. */
const TickStrip = ({ ticks, zone }: { readonly ticks: readonly ScheduleTick[]; readonly zone: string }) => (
  <div className="tick-strip" aria-hidden="true">
    {ticks.toReversed().map((tick) => {
      const badge = badgeOfTick(tick);
      return (
        <span
          key={keyOf(tick)}
          className={`tick tone-${badge.tone} ${tick.outcome === 'skipped' ? 'is-skipped' : ''}`}
          data-tip={`${badge.word}\n${tickText(tick.nominalAt, zone)}`}
        >
          {(badge.tone === 'bad' || tick.outcome === 'skipped') && <GlyphMark glyph={badge.glyph} />}
        </span>
      );
    })}
  </div>
);
