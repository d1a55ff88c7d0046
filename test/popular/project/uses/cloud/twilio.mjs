import twilio from 'twilio';

/** Loads its products when they are asked for. */
export default async () => typeof twilio('AC0', 'none').messages.create;
