import { readableDuration } from '@millrace/contract/plain';
import type { ReactNode } from 'react';
import { IconButton } from '../../../parts/button.tsx';
import { Id } from '../../../parts/id.tsx';
import { LongText } from '../../../parts/json/long-text.tsx';
import { visibleControls } from '../../../parts/json/visible-controls.ts';
import { PageLink } from '../../../parts/page-link.tsx';
import { Properties } from '../../../parts/page.tsx';
import { Status } from '../../../parts/status/status.tsx';
import { Time } from '../../../parts/time/time.tsx';
import type { TimelineRow } from './layout.ts';
import type { Segment } from './lines.ts';
import { attemptWords, stepWords } from './words.ts';

interface TimelineDetailProps {
  readonly row: TimelineRow;
  readonly origin: number;
  readonly onClose: () => void;
}

/** The details of one line of the waterfall. */
export function TimelineDetail({ row, origin, onClose }: TimelineDetailProps) {
  const { entry } = row;
  const attempt = entry.kind === 'attempt' || entry.kind === 'step' ? entry : row.attempt;
  return (
    <div className="wf-open" role="region" aria-label={row.label}>
      <div className="row spread">
        <h3 className="cut">{visibleControls(row.label)}</h3>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      <Properties
        properties={[
          ...propertiesOf(entry),
          ...(row.attempt ? propertiesOf(row.attempt).slice(1) : []),
          ['Started', <Time key="began" at={row.from} exact />],
          ['After', <span className="number">{readableDuration(row.from - origin)}</span>],
          [
            row.isLive ? 'So far' : 'Took',
            <span className="number">
              {readableDuration(entry.kind === 'span' ? entry.durationMs : row.to - row.from)}
            </span>,
          ],
        ]}
      />
      {entry.kind === 'span' && entry.detail !== undefined && (
        <pre className="wf-text">
          <LongText text={entry.detail} />
        </pre>
      )}
      {entry.kind === 'span' && entry.message !== undefined && (
        <p className="tone-bad">{visibleControls(entry.message)}</p>
      )}
      {attempt?.error && (
        <p className="tone-bad wf-error">
          {attempt.error.name !== undefined && (
            <span className="strong">{visibleControls(attempt.error.name)}: </span>
          )}
          <LongText text={attempt.error.message} />{' '}
          {'group' in attempt.error && attempt.error.group !== undefined && (
            <PageLink to={`/errors/${attempt.error.group}`}>Its error group</PageLink>
          )}
        </p>
      )}
      {row.segments.length > 0 && (
        <ul>
          {row.segments.map((segment) => (
            <li key={segment.id}>
              <span className="number">{readableDuration(segment.to - segment.from)}</span> {segment.label}{' '}
              <Target segment={segment} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Target({ segment: { target } }: { readonly segment: Segment }) {
  if (target === undefined) return null;
  const page = target.startsWith('run_')
    ? 'runs'
    : target.startsWith('batch_')
      ? 'batches'
      : target.startsWith('waitpoint_')
        ? 'waits'
        : 'sessions';
  return (
    <PageLink to={`/${page}/${encodeURIComponent(target)}`} className="mono">
      {target}
    </PageLink>
  );
}

type Property = readonly [string, ReactNode] | undefined;

function propertiesOf(entry: TimelineRow['entry']): readonly Property[] {
  if (entry.kind === 'run')
    return [
      ['Status', <Status key="status" status={entry.status} />],
      [
        'Run',
        <Id key="run" id={entry.runId}>
          <PageLink to={`/runs/${entry.runId}`}>{entry.runId}</PageLink>
        </Id>,
      ],
      ['Queue', entry.queue],
      entry.concurrencyKey === undefined ? undefined : ['Concurrency key', entry.concurrencyKey],
      entry.version === undefined ? undefined : ['Version', entry.version],
      ['Attempts', entry.attemptCount],
      entry.hasMoreChildren
        ? ['More', <PageLink to={`/runs/${entry.runId}`}>It has more children than are shown here</PageLink>]
        : undefined,
    ];
  if (entry.kind === 'attempt')
    return [
      ['Status', attemptWords[entry.status]],
      entry.runner === undefined
        ? undefined
        : ['Runner', `${entry.runner.host}, process ${entry.runner.pid}`],
      entry.version === undefined ? undefined : ['Version', entry.version],
      entry.variablesRevision === undefined
        ? undefined
        : ['Variables', `revision ${entry.variablesRevision}`],
      ['Duration', readableDuration(entry.durationMs)],
    ];
  if (entry.kind === 'step')
    return [
      ['Step', stepWords[entry.stepKind]],
      ['Status', entry.status === 'COMPLETED' ? 'Completed' : 'Failed'],
      entry.tries > 1 ? ['Attempts', entry.tries] : undefined,
      entry.detail === undefined ? undefined : ['About', visibleControls(entry.detail)],
      entry.takenFrom === undefined
        ? undefined
        : [
            'Reused from',
            <PageLink key="taken" to={`/runs/${entry.takenFrom}`}>
              {entry.takenFrom}
            </PageLink>,
          ],
    ];
  if (entry.kind === 'batch') return [['Runs', entry.runCount.toLocaleString('en')]];
  return [
    ['Kind', entry.spanKind],
    ['Span', <Id key="span" id={entry.spanId} />],
  ];
}
