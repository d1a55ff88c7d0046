import { connection } from 'next/server';
import { MillraceAuthProvider } from '@millrace/react';
import { millrace } from '../../millrace.ts';
import { EmailForm } from './email-form.tsx';
import { TestEmail } from './test-email.tsx';

export default async function Page() {
  await connection(); // The code below runs for each request, not when the page is built.
  const token = await millrace.auth.createTriggerPublicToken('send-email');
  return (
    <MillraceAuthProvider baseURL={process.env['MILLRACE_API_URL']}>
      <EmailForm />
      <TestEmail token={token} />
    </MillraceAuthProvider>
  );
}
