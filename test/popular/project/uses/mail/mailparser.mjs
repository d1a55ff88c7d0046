import { simpleParser } from 'mailparser';

export default async () => {
  const mail = await simpleParser('From: a@b.c\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\n\nHello');
  return [mail.subject, mail.from.text];
};
