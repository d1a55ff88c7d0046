import { useState } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { LongText } from '../json/long-text.tsx';
import { visibleControls } from '../json/visible-controls.ts';
import { countText } from '../count-text.ts';
import { commonFolder, framesOf, shortPath, type Frame } from './frames.ts';
import './stack.css';

interface ShownError {
  readonly name?: string | undefined;
  readonly message: string;
  readonly stackTrace?: string | undefined;
}

interface ErrorViewProps {
  readonly error: ShownError;
  /** The errors behind it, each before what caused it. */
  readonly causes?: readonly ShownError[] | undefined;
}

/** An error: its message, its frames with the user's own code first in sight, and what caused it. */
export const ErrorView = ({ error, causes = [] }: ErrorViewProps) => (
  <div className="error-view">
    <OneError error={error} />
    {causes.map((cause, index) => (
      <div key={index} className="error-cause">
        <p className="muted small">Caused by</p>
        <OneError error={cause} />
      </div>
    ))}
  </div>
);

function OneError({ error }: { readonly error: ShownError }) {
  const frames = framesOf(error.stackTrace ?? '');
  return (
    <div className="one-error">
      <div className="row">
        <p className="error-message">
          {error.name !== undefined && <span className="error-name">{visibleControls(error.name)}</span>}
          <LongText text={error.message} />
        </p>
        <CopyButton text={error.stackTrace ?? error.message} what="Copy the error with its stack" />
      </div>
      {frames.length > 0 && <Stack frames={frames} />}
    </div>
  );
}

/** Frames of others between own ones are folded into one line. */
function groups(
  frames: readonly Frame[],
): readonly { readonly isOwn: boolean; readonly frames: readonly Frame[] }[] {
  const found: { isOwn: boolean; frames: Frame[] }[] = [];
  for (const frame of frames) {
    const last = found.at(-1);
    if (last && last.isOwn === frame.isOwn) last.frames.push(frame);
    else found.push({ isOwn: frame.isOwn, frames: [frame] });
  }
  return found;
}

function Stack({ frames }: { readonly frames: readonly Frame[] }) {
  const [isWhole, setWhole] = useState(false);
  const common = commonFolder(frames);
  const hasOwn = frames.some(({ isOwn }) => isOwn);
  const line = (frame: Frame, index: number) => (
    <li key={index} className={frame.isOwn ? 'frame-line is-own' : 'frame-line'}>
      {frame.file === undefined ? (
        <code>{visibleControls(frame.text)}</code>
      ) : (
        <>
          <code className="frame-file">
            {visibleControls(shortPath(frame.file, common))}
            <span className="frame-at">:{frame.line}</span>
          </code>
          {frame.name !== undefined && <code className="muted cut">{visibleControls(frame.name)}</code>}
          <CopyButton text={`${frame.file}:${frame.line}:${frame.column ?? 1}`} what="Copy file and line" />
        </>
      )}
    </li>
  );
  return (
    <ol className="stack-frames">
      {isWhole || !hasOwn
        ? frames.map(line)
        : groups(frames).map((group, index) =>
            group.isOwn ? (
              group.frames.map((frame, at) => line(frame, index * 1_000 + at))
            ) : (
              <li key={index} className="frame-line">
                <Button look="plain" onClick={() => setWhole(true)}>
                  {countText(group.frames.length, 'frame')} of libraries
                </Button>
              </li>
            ),
          )}
    </ol>
  );
}
