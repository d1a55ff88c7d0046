import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { useGoTo } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time/time.tsx';
import type { ErrorDetail } from './error-detail.ts';

/** The reason why these errors form one group: the input of their fingerprint. Merged fingerprints can be split again. */
export function OneGroup({ group }: { readonly group: ErrorDetail }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isConfirming, setConfirming] = useState(false);
  const may = useMay();
  const goTo = useGoTo();
  const fingerprints = useAsk('listErrorFingerprints', { params: { errorId: group.id } });
  const split = useAct('splitError', {
    showsErrors: true,
    onDone: ({ id }) => {
      setConfirming(false);
      setChosen(new Set());
      toast({
        title: 'Error split into a separate group',
        action: { label: 'Open it', onClick: () => goTo(`/errors/${id}`) },
      });
    },
  });
  const all = fingerprints.data?.data ?? [];
  const isComputed = /^m\d+/.test(group.fingerprint);
  const what = countText(chosen.size, 'fingerprint');
  return (
    <Section
      title="Why these errors are grouped"
      actions={chosen.size > 0 && <Button onClick={() => setConfirming(true)}>Split {what}</Button>}
    >
      <div className="card one-group">
        {isComputed ? (
          <>
            <p>Runs of the same task failed with the same:</p>
            <ul className="why-list">
              <li>
                type <code>{visibleControls(group.errorType)}</code>
              </li>
              <li>
                message, without ids, numbers, names and dates:{' '}
                <code>{visibleControls(group.errorMessage.slice(0, 300))}</code>
              </li>
              <li>function of your code that threw it, regardless of file and line</li>
              <li>causes</li>
            </ul>
          </>
        ) : (
          <p>
            Not grouped by text: a project rule, the task, or the error itself set the group{' '}
            <code>{visibleControls(group.fingerprint)}</code>.
          </p>
        )}
        {all.length <= 1 ? (
          <p className="muted small">
            Fingerprint <code className="fingerprint">{visibleControls(group.fingerprint)}</code>
          </p>
        ) : (
          <>
            <p className="strong">{countText(all.length, 'fingerprint')}, merged</p>
            <ul>
              {all.map(({ fingerprint, errorMessage, count, lastSeen }, index) => (
                <li key={fingerprint}>
                  <label className="merge-item">
                    <input
                      type="checkbox"
                      className="check-box"
                      checked={chosen.has(fingerprint)}
                      disabled={index === 0 || !may('splitError')}
                      aria-label={
                        index === 0
                          ? 'The first fingerprint of a group cannot be moved'
                          : 'Choose the fingerprint'
                      }
                      onChange={() =>
                        setChosen((before) => {
                          const next = new Set(before);
                          if (!next.delete(fingerprint)) next.add(fingerprint);
                          return next;
                        })
                      }
                    />
                    <span className="cut" data-tip={fingerprint}>
                      {visibleControls(errorMessage.slice(0, 200))}
                    </span>
                    <span className="muted small number">
                      {count.toLocaleString('en')}×, <Time at={lastSeen} />
                    </span>
                  </label>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Split ${what} from this group?`}
        action={`Split ${what}`}
        isHarmless
        isBusy={split.isPending}
        error={split.error?.message}
        onConfirm={() => split.mutate({ params: { errorId: group.id }, body: { fingerprints: [...chosen] } })}
      >
        They become a separate group with their counts and the state of this one. You can merge it again.
      </Confirm>
    </Section>
  );
}
