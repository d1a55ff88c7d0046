import { connection } from 'next/server';
import { millrace } from '../../millrace.ts';
import { EmailForm } from './email-form.tsx';
import { TestEmail } from './test-email.tsx';

export default async function Page() {
  await connection(); // The code below runs for each request, not when the page is built.
  const baseURL = process.env['MILLRACE_API_URL'] ?? '';
  const token = await millrace.auth.createTriggerPublicToken('send-email');
  return (
    <>
      <EmailForm baseURL={baseURL} />
      <TestEmail baseURL={baseURL} token={token} />
    </>
  );
}
