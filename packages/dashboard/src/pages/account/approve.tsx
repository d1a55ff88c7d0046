import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import type { ReplyOf } from '../../api/operation-types.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { Section } from '../../parts/page.tsx';

/** The code in the address that `millrace login --approval` opens. */
const codeInAddress = (): string => new URLSearchParams(location.search).get('approve') ?? '';

/** Approves a machine that shows a code, after showing the origin of the request. */
export function Approve() {
  const [userCode, setUserCode] = useState(codeInAddress);
  const [asking, setAsking] = useState<ReplyOf<'describeAuthorizationCode'>>();
  const describe = useAct('describeAuthorizationCode', {
    invalidates: [],
    inEnvironment: false,
    showsErrors: true,
    onDone: setAsking,
  });
  const approve = useAct('approveAuthorizationCode', {
    invalidates: ['listTokens'],
    inEnvironment: false,
    showsErrors: true,
    done: () => 'Approved. The machine receives one of your access tokens, which expires in 90 days',
    onDone: () => {
      setAsking(undefined);
      setUserCode('');
    },
  });
  return (
    <Section title="Approve a machine">
      <p className="muted">
        <code>millrace login --approval</code> shows a code. Approve only a code shown on your own machine:
        the machine can then act as you.
      </p>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          describe.mutate({ body: { userCode } });
        }}
      >
        <TextField
          label="Code"
          autoComplete="off"
          required
          placeholder="WDJB-MJHT"
          value={userCode}
          onChange={(event) => setUserCode(event.target.value)}
          error={describe.error?.message}
        />
        <div>
          <Button type="submit" isBusy={describe.isPending}>
            Show the request
          </Button>
        </div>
      </form>
      <Confirm
        isOpen={asking !== undefined}
        onClose={() => {
          approve.reset();
          setAsking(undefined);
        }}
        title={`Allow ${asking?.hostName ?? 'a machine'} to act as you?`}
        action="Approve"
        isBusy={approve.isPending}
        error={approve.error?.message}
        onConfirm={() => asking && approve.mutate({ body: { userCode: asking.userCode, name: 'login' } })}
      >
        Host name: {asking?.hostName ?? 'none'}. Client: {asking?.userAgent ?? 'unknown'}. Address:{' '}
        {asking?.address}. The host name and the client are not verified.
      </Confirm>
    </Section>
  );
}
