import type { Session } from '@millrace/contract';
import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useLive } from '../../api/live.ts';
import { useMay } from '../../api/session.ts';
import { messageOf as errorText } from '../../api/api-error.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Mark, Status } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { Composer } from './composer.tsx';
import { conversationOf } from './conversation.ts';
import { Entries } from './entries.tsx';
import { isExpired, badgeOfSession } from './badges.ts';
import { useChannel } from './use-channel.ts';
import './sessions.css';

/** One session: its channels as a live conversation. */
export function SessionPage() {
  const { session = '' } = useParams({ strict: false }) as { readonly session?: string };
  const query = useAsk('retrieveSession', { params: { session } }, { live: true, keepPrevious: false });
  if (query.data) return <Loaded key={query.data.id} session={query.data} />;
  return (
    <Page title="Session">
      {query.error ? (
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function Loaded({ session }: { readonly session: Session }) {
  const may = useMay();
  const { isPaused } = useLive();
  const [isClosing, setClosing] = useState(false);
  const isOpen = session.closedAt === null && !isExpired(session);
  const ins = useChannel('subscribeToSessionIn', session.id, !isOpen);
  const outs = useChannel('subscribeToSessionOut', session.id, !isOpen);
  const entries = useMemo(() => conversationOf(ins.records, outs.records), [ins.records, outs.records]);
  const lastEntry = entries.at(-1);
  const lastIn = entries.findLast(({ kind }) => kind === 'in');
  const error = ins.error ?? outs.error;
  const name = session.externalId ?? session.id;
  return (
    <Page
      title={name}
      summary={
        <span className="row wrap">
          <Mark badge={badgeOfSession(session)} />
          <span className="session-with">
            {session.type} with{' '}
            <PageLink to={`/tasks/${encodeURIComponent(session.taskIdentifier)}`}>
              {session.taskIdentifier}
            </PageLink>
          </span>
          <Id id={session.id} />
        </span>
      }
      actions={
        <>
          {isOpen && may('closeSession') && (
            <Button icon="cancel" variant="danger" onClick={() => setClosing(true)}>
              Close the session
            </Button>
          )}
          <CodeExample
            operation="listSessionOutRecords"
            input={{ params: { session: session.id } }}
            cli={undefined}
            sdk={`import { sessions } from '@millrace/sdk';\n\nconst session = sessions.open(${JSON.stringify(name)});\nawait session.in.send({ text: 'Hello' });\nfor await (const chunk of session.out.read()) console.log(chunk);`}
          />
        </>
      }
    >
      <div className="session">
        <section className="card session-talk" aria-label="Channel">
          {error !== undefined && <Failure error={errorOf(error)} />}
          {isPaused && (
            <p className="notice tone-warn">
              Live updates are paused: new messages appear once you resume them.
            </p>
          )}
          <Entries
            entries={entries}
            isLoaded={ins.isLoaded && outs.isLoaded}
            isAnswering={isOpen && lastEntry?.kind === 'out' && !lastEntry.isComplete}
          />
          {isOpen ? (
            may('appendToSessionIn') ? (
              <Composer session={session.id} last={lastIn?.kind === 'in' ? lastIn.value : undefined} />
            ) : (
              <p className="session-note muted">Your role is read-only: you cannot send messages.</p>
            )
          ) : (
            <p className="session-note muted">
              {session.closedAt === null ? 'The session has expired' : 'The session is closed'}: it accepts no
              more messages.
              {session.closedReason !== null && ` Reason: ${session.closedReason}`}
            </p>
          )}
        </section>
        <aside className="session-properties" aria-label="About the session">
          <Properties
            properties={[
              [
                'Served by',
                session.currentRunId === null ? 'no run' : <ServingRun key="run" id={session.currentRunId} />,
              ],
              ['Started', <Time key="started" at={session.createdAt} />],
              ['Changed', <Time key="changed" at={session.updatedAt} />],
              [
                'Expires',
                session.expiresAt === null ? undefined : <Time key="expires" at={session.expiresAt} />,
              ],
              ['Closed', session.closedAt === null ? undefined : <Time key="closed" at={session.closedAt} />],
              ['Tags', session.tags.length > 0 ? session.tags.join(', ') : undefined],
              [
                'Messages',
                `${ins.records.length.toLocaleString('en')} in, ${outs.records.length.toLocaleString('en')} out`,
              ],
            ]}
          />
          {session.metadata !== null && (
            <Section title="Metadata">
              <JsonTree value={session.metadata} label="Metadata" />
            </Section>
          )}
          <Section title="Trigger config">
            <JsonTree value={session.triggerConfig} label="Trigger config" depth={1} />
          </Section>
        </aside>
      </div>
      <CloseQuestion session={session} isOpen={isClosing} onClose={() => setClosing(false)} />
    </Page>
  );
}

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(errorText(error)));

/** The run that serves it, with its status. */
function ServingRun({ id }: { readonly id: string }) {
  const run = useAsk('retrieveRun', { params: { runId: id } }, { live: true });
  return (
    <span className="row">
      <PageLink to={`/runs/${id}`} className="mono">
        {shortId(id)}
      </PageLink>
      {run.data && <Status status={run.data.status} />}
    </span>
  );
}

interface CloseQuestionProps {
  readonly session: Session;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function CloseQuestion({ session, isOpen, onClose }: CloseQuestionProps) {
  const [reason, setReason] = useState('');
  const close = useAct('closeSession', {
    showsErrors: true,
    invalidates: ['retrieveSession', 'listSessions'],
    done: 'Session closed',
    onDone: onClose,
  });
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title="Close this session?"
      action="Close the session"
      isBusy={close.isPending}
      error={close.error?.message}
      onConfirm={() =>
        close.mutate({
          params: { session: session.id },
          body: reason.trim() === '' ? {} : { reason: reason.trim() },
        })
      }
    >
      <div className="stack">
        <p>It accepts no more messages and cannot be reopened. Its run continues.</p>
        <TextField
          label="Reason"
          hint="Optional. Shown on this page."
          maxLength={256}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </Confirm>
  );
}
