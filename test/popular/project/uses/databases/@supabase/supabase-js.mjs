import { createClient } from '@supabase/supabase-js';

export default async () => {
  const client = createClient('http://127.0.0.1:1', 'none', { realtime: { transport: EventTarget } });
  return (await client.from('mails').select()).error.message.includes('fetch failed');
};
