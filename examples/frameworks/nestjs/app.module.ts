import { Module, StandardSchemaValidationPipe } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { MillraceClient } from '@millrace/sdk';
import { millrace } from '../millrace.ts';
import { EmailsController } from './emails.controller.ts';

@Module({
  controllers: [EmailsController],
  providers: [
    { provide: MillraceClient, useValue: millrace },
    { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
  ],
})
// oxlint-disable-next-line typescript/no-extraneous-class -- a module of NestJS is what its decorator says
export class AppModule {}
