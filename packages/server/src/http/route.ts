import type { OperationDeclaration } from '@millrace/contract';
import type { Handler } from '../request.ts';
import type { RouteMetrics } from './metrics.ts';
import type { Limiter } from './rate-limit.ts';

/** An operation mounted at its path. */
export interface Route {
  readonly declaration: OperationDeclaration;
  readonly handler: Handler<OperationDeclaration>;
  /** Browsers may call it from any origin. */
  readonly cors: boolean;
  readonly limiter: Limiter | undefined;
  readonly observed: RouteMetrics;
}
