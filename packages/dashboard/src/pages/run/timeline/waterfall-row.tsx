import { readableDuration } from '@millrace/contract/plain';
import { memo } from 'react';
import { Icon } from '../../../parts/icons.tsx';
import { GlyphMark } from '../../../parts/status/glyph.tsx';
import { runStatusBadges } from '../../../parts/status/run-status.ts';
import { visibleControls } from '../../../parts/json/visible-controls.ts';
import { percent, type TimelineRow } from './layout.ts';
import { attemptWords } from './words.ts';

interface WaterfallRowProps {
  readonly row: TimelineRow;
  readonly index: number;
  readonly top: number;
  readonly from: number;
  readonly to: number;
  readonly isTabStop: boolean;
  readonly isSelected: boolean;
  readonly onToggle: () => void;
  readonly onFocus: () => void;
  readonly onSelect: () => void;
}

/** The meaning of an entry's glyph, in words. */
function wordOf({ entry }: TimelineRow): string {
  if (entry.kind === 'run') return runStatusBadges[entry.status].word;
  if (entry.kind === 'attempt') return attemptWords[entry.status];
  if (entry.kind === 'span') return entry.status === 'error' ? 'Failed' : '';
  if (entry.kind === 'step') return entry.status === 'FAILED' ? 'Failed step' : 'Step';
  return '';
}

export const WaterfallRow = memo(function WaterfallRow({
  row,
  index,
  top,
  from,
  to,
  isTabStop,
  isSelected,
  onToggle,
  onFocus,
  onSelect,
}: WaterfallRowProps) {
  const { entry } = row;
  const length = row.entry.kind === 'span' ? row.entry.durationMs : row.to - row.from;
  const isVisible = row.to >= from && row.from <= to;
  const left = percent(row.from, from, to);
  const width = percent(row.to, from, to) - left;
  return (
    <div
      role="row"
      aria-level={row.depth + 1}
      aria-rowindex={index + 1}
      aria-expanded={row.childCount > 0 ? !row.isCollapsed : undefined}
      aria-selected={isSelected}
      data-id={row.id}
      tabIndex={isTabStop ? 0 : -1}
      className={`wf-row ${isSelected ? 'is-selected' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      onFocus={onFocus}
      onClick={onSelect}
    >
      <div
        role="gridcell"
        className="wf-name"
        style={{ paddingInlineStart: `${Math.min(row.depth, 12) * 14 + 4}px` }}
      >
        {row.childCount > 0 ? (
          <button
            type="button"
            tabIndex={-1}
            className="wf-toggle"
            aria-label={row.isCollapsed ? 'Open' : 'Close'}
            onClick={(event) => {
              event.stopPropagation();
              onToggle();
            }}
          >
            <Icon name={row.isCollapsed ? 'right' : 'down'} size={12} />
          </button>
        ) : (
          <span className="wf-toggle" />
        )}
        {entry.kind === 'run' && (
          <span className={`tone-${runStatusBadges[entry.status].tone} wf-glyph`}>
            <GlyphMark glyph={runStatusBadges[entry.status].glyph} />
          </span>
        )}
        <span
          className={`cut ${entry.kind === 'run' ? 'strong' : ''} ${entry.kind === 'span' ? 'muted' : ''}`}
        >
          {visibleControls(row.label)}
        </span>
        <span className="hidden-text">{wordOf(row)}</span>
        {entry.kind === 'attempt' && entry.status !== 'COMPLETED' && (
          <span className={`tone-${row.tone} small cut`} aria-hidden="true">
            {attemptWords[entry.status]}
          </span>
        )}
        {entry.kind === 'step' && entry.takenFrom !== undefined && (
          <span className="muted small cut">reused</span>
        )}
        {(entry.kind === 'span' || entry.kind === 'step') && entry.detail !== undefined && (
          <span className="muted small cut wf-detail">{visibleControls(entry.detail)}</span>
        )}
        {row.isCollapsed && <span className="muted small number">{row.childCount}</span>}
      </div>
      <div role="gridcell" className="wf-track">
        {isVisible && (
          <>
            <span
              className={`wf-bar wf-${row.attempt ? 'attempt' : entry.kind} bar-${row.tone} ${row.isLive ? 'is-live' : ''}`}
              style={{ insetInlineStart: `${left}%`, inlineSize: `${width}%` }}
            />
            {row.segments.map((segment) => {
              const start = percent(segment.from, from, to);
              const size = percent(segment.to, from, to) - start;
              return (
                size > 0 && (
                  <span
                    key={segment.id}
                    className={`wf-segment wf-${segment.kind}`}
                    style={{ insetInlineStart: `${start}%`, inlineSize: `${size}%` }}
                    data-tip={`${readableDuration(segment.to - segment.from)} ${segment.label}`}
                  />
                )
              );
            })}
            {row.marks
              .filter(({ at }) => at >= from && at <= to)
              .map((mark) => (
                <span
                  key={mark.id}
                  className={`wf-mark mark-${mark.level}`}
                  style={{ insetInlineStart: `${percent(mark.at, from, to)}%` }}
                  data-tip={visibleControls(mark.message.slice(0, 300))}
                />
              ))}
          </>
        )}
      </div>
      <div role="gridcell" className={`wf-length number ${row.isLive ? 'is-live' : ''}`}>
        {readableDuration(length)}
      </div>
    </div>
  );
});
