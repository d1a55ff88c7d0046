import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';

export default async () => {
  class Mail {}
  return plainToInstance(Mail, { to: 'a' }) instanceof Mail;
};
