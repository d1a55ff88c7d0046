import { Resend } from 'resend';

export default async () => typeof new Resend('re_none').emails.send;
