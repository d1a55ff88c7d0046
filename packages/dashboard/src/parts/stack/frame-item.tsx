import { useState } from 'react';
import { IconButton } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { visibleControls } from '../json/visible-controls.ts';
import { shortPath, type Frame } from './frames.ts';
import { SourceLines } from './source-lines.tsx';

interface FrameItemProps {
  readonly frame: Frame;
  /** The common prefix of all paths in the stack. */
  readonly common: string;
  readonly version: string | undefined;
  /** The first frame of the user's code: if there is no source, it shows the reason. */
  readonly isFirst: boolean;
  readonly startsOpen: boolean;
}

/** A frame, with the source lines around it. */
export function FrameItem({ frame, common, version, isFirst, startsOpen }: FrameItemProps) {
  const [isExpanded, setExpanded] = useState<boolean>();
  const { file, line, name } = frame;
  const isOpen = isExpanded ?? startsOpen;
  const position =
    version !== undefined && file !== undefined && line !== undefined && !file.startsWith('node:')
      ? { version, file, line }
      : undefined;
  return (
    <li>
      <div className={frame.isOwn ? 'frame-line is-own' : 'frame-line'}>
        {file === undefined ? (
          <code>{visibleControls(frame.text)}</code>
        ) : (
          <>
            <code className="frame-file">
              {visibleControls(shortPath(file, common))}
              <span className="frame-at">:{line}</span>
            </code>
            {name !== undefined && <code className="muted cut">{visibleControls(name)}</code>}
            <span className="frame-actions">
              {position && (
                <IconButton
                  icon={isOpen ? 'down' : 'right'}
                  label={isOpen ? 'Hide the source' : 'Show the source'}
                  aria-expanded={isOpen}
                  onClick={() => setExpanded(!isOpen)}
                />
              )}
              <CopyButton text={`${file}:${line}:${frame.column ?? 1}`} what="Copy file and line" />
            </span>
          </>
        )}
      </div>
      {position && isOpen && <SourceLines {...position} isQuiet={isExpanded === undefined && !isFirst} />}
    </li>
  );
}
