import { useState } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { LongText } from '../json/long-text.tsx';
import { visibleControls } from '../json/visible-controls.ts';
import { countText } from '../count-text.ts';
import { FrameItem } from './frame-item.tsx';
import { commonFolder, framesOf, type Frame } from './frames.ts';
import './stack.css';

interface ErrorResponse {
  readonly name?: string | undefined;
  readonly message: string;
  readonly stackTrace?: string | undefined;
}

interface ErrorViewProps {
  readonly error: ErrorResponse;
  /** The underlying errors, each before the error that it caused. */
  readonly causes?: readonly ErrorResponse[] | undefined;
  /** The version whose code threw it, for its source lines. */
  readonly version?: string | undefined;
}

/** An error that collects several has no single root cause. */
const isCollection = ({ name }: ErrorResponse): boolean => name === 'AggregateError';

/**
 * An error: its message, its frames with the user's own code first, and its causes. The root cause comes first, followed by the errors that it
 * caused.
 */
export function ErrorView({ error, causes = [], version }: ErrorViewProps) {
  const chain = [error, ...causes];
  const isReversed = causes.length > 0 && !chain.some(isCollection);
  const [first = error, ...others] = isReversed ? chain.toReversed() : chain;
  return (
    <div className="error-view">
      {isReversed && <h3>Root cause</h3>}
      <OneError error={first} version={version} />
      {others.map((other, index) => (
        <div key={index} className="error-cause">
          <p className="muted small">{isReversed ? 'This caused' : 'Caused by'}</p>
          <OneError error={other} version={version} />
        </div>
      ))}
    </div>
  );
}

interface OneErrorProps {
  readonly error: ErrorResponse;
  readonly version: string | undefined;
}

function OneError({ error, version }: OneErrorProps) {
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
      {frames.length > 0 && <Stack frames={frames} version={version} />}
    </div>
  );
}

/** Library frames between frames of the user's code are folded into one line. */
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

/** Number of frames of the user's code whose source is shown initially. */
const openFrames = 3;

interface StackProps {
  readonly frames: readonly Frame[];
  readonly version: string | undefined;
}

function Stack({ frames, version }: StackProps) {
  const [isWhole, setWhole] = useState(false);
  const common = commonFolder(frames);
  const own = frames.filter(({ isOwn }) => isOwn);
  const line = (frame: Frame, index: number) => (
    <FrameItem
      key={index}
      frame={frame}
      common={common}
      version={version}
      isFirst={frame === own[0]}
      startsOpen={own.slice(0, openFrames).includes(frame)}
    />
  );
  return (
    <ol className="stack-frames">
      {isWhole || own.length === 0
        ? frames.map(line)
        : groups(frames).map((group, index) =>
            group.isOwn ? (
              group.frames.map((frame, at) => line(frame, index * 1_000 + at))
            ) : (
              <li key={index} className="frame-line">
                <Button variant="plain" onClick={() => setWhole(true)}>
                  {countText(group.frames.length, 'frame')} of libraries
                </Button>
              </li>
            ),
          )}
    </ol>
  );
}
