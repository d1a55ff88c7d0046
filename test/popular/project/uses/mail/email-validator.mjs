import { validate } from 'email-validator';

export default async () => [validate('a@b.cd'), validate('a@')];
