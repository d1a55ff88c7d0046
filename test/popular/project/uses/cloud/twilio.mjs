import twilio from 'twilio';

/** Loads its products on demand. */
export default async () => typeof twilio('AC0', 'none').messages.create;
