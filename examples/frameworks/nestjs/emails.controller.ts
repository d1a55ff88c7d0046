import { Body, Controller, HttpCode, Post } from '@nestjs/common';
// oxlint-disable-next-line typescript/consistent-type-imports -- NestJS finds the class by what is emitted of its import
import { MillraceClient } from '@millrace/sdk';
import type { z } from 'zod';
import { email } from '../email.ts';
import type * as tasks from '../tasks/index.ts';

@Controller('emails')
export class EmailsController {
  constructor(private readonly millrace: MillraceClient<typeof tasks>) {}

  @Post()
  @HttpCode(202)
  send(@Body({ schema: email }) body: z.output<typeof email>) {
    return this.millrace.tasks.trigger('send-email', body);
  }
}
