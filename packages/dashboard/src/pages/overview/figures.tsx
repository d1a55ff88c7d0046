import type { EnvironmentConcurrency, RunnerInfo, StatsSeries } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import type { ReactNode } from 'react';
import { PageLink } from '../../parts/page-link.tsx';

interface FiguresProps {
  readonly stats: StatsSeries | undefined;
  readonly range: string;
  readonly concurrency: EnvironmentConcurrency | undefined;
  readonly runners: readonly RunnerInfo[] | undefined;
  readonly oldestMs: number | null | undefined;
}

const number = (value: number): string => value.toLocaleString('en');

/** @example share(3, 1_000) // '0.3 %' */
export function share(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  const percent = (part / whole) * 100;
  return percent < 0.1 ? '< 0.1 %' : `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** The current numbers, and those of the range. */
export function Figures({ stats, range, concurrency, runners, oldestMs }: FiguresProps) {
  const total = stats?.total;
  const failed = total && total.failed + total.crashed + total.systemFailure + total.timedOut;
  const slots = runners?.reduce((sum, runner) => sum + runner.slots, 0);
  const used = runners?.reduce((sum, runner) => sum + runner.running, 0);
  return (
    <dl className="figures">
      <Figure
        name="Running now"
        to="/runs"
        search={{ q: 'status:running since:30d' }}
        value={concurrency && number(concurrency.running)}
        note={
          concurrency &&
          (concurrency.concurrencyLimit === null
            ? 'no limit'
            : `of ${number(concurrency.concurrencyLimit)} allowed`)
        }
      />
      <Figure
        name="Waiting now"
        to="/runs"
        search={{ q: 'status:queued,pending-version since:30d' }}
        value={concurrency && number(concurrency.queued)}
        note={
          oldestMs != null && oldestMs > 0 ? `the oldest for ${readableDuration(oldestMs)}` : 'none for long'
        }
      />
      <Figure
        name={`Completed, ${range}`}
        to="/runs"
        search={{ q: `status:completed since:${range === '24h' ? '1d' : range}` }}
        value={total && number(total.completed)}
        note={total && `${number(total.triggered)} triggered`}
      />
      <Figure
        name={`Failed, ${range}`}
        to="/runs"
        search={{
          q: `status:failed,crashed,system-failure,timed-out since:${range === '24h' ? '1d' : range}`,
        }}
        value={failed === undefined ? undefined : number(failed)}
        tone={failed !== undefined && failed > 0 ? 'bad' : undefined}
        note={total && failed !== undefined && `${share(failed, total.completed + failed)} of the ended runs`}
      />
      <Figure
        name="Duration, p95"
        to="/tasks"
        value={total && (total.duration.p95 === null ? '–' : readableDuration(total.duration.p95))}
        note={total && total.wait.p95 !== null && `queued for ${readableDuration(total.wait.p95)}`}
      />
      <Figure
        name="Runners"
        to="/versions"
        value={runners && number(runners.length)}
        tone={runners?.length === 0 ? 'warn' : undefined}
        note={slots !== undefined && used !== undefined && `${number(used)} of ${number(slots)} slots used`}
      />
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string | undefined;
  readonly note: ReactNode;
  readonly tone?: 'bad' | 'warn' | undefined;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

const Figure = ({ name, value, note, tone, to, search }: FigureProps) => (
  <div className="figure card">
    <dt>
      <PageLink to={to} {...(search && { search })} className="figure-link">
        {name}
      </PageLink>
    </dt>
    <dd className={`figure-value number ${tone ? `tone-${tone}` : ''}`}>
      {value ?? <span className="muted">–</span>}
    </dd>
    <dd className="figure-note muted small number">{note || '\u00a0'}</dd>
  </div>
);
